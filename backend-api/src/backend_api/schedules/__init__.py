"""Scheduled messages, sent once or repeatedly."""
