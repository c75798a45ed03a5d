"""Opened ports of a session's sandbox, and the apps that browsers reach through them."""
