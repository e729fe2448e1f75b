"""Slack's Web API over the official client. Built by app/parts; nothing else imports it."""
