"""Slack's Web API over the official client. Built by app.py; nothing else imports it."""
