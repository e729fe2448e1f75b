"""A Slack bot that lends GPU quota on Kueue, takes it back, and says so. See docs/architecture.md."""
