"""Kubernetes with Kueue, as plain JSON over the official client. Built by app/parts; nothing else imports it."""
