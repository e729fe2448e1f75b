"""Kubernetes with Kueue, as plain JSON over the official client. Built by app.py; nothing else imports it."""
