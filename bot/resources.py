"""Paths."""
