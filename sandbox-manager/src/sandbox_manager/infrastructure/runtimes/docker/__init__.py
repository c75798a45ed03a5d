"""Sandboxes as Docker containers."""
