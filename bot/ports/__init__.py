"""What the flows need from the outside world, as roles. Adapters implement them, tests/support/fakes stand in for them.

Every method may raise `Unavailable` (try later) or `Rejected` (never so) of bot.core.errors; nothing of a vendor's.
"""
