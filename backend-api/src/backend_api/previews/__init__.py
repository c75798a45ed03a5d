"""Opened ports of a session's sandbox, and what browsers are shown through them."""
