"""How live quota is made equal to base + loans: pure planning. Called by flows/converge_quota."""
