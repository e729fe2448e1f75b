"""The composition root: builds everything from the settings, starts and stops it. Nothing else does.

`run.Bot` is what the command line and the demo hold; `parts` makes the adapters; `leader` says who leads.
"""
