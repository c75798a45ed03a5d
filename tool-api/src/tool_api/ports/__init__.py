"""Connections to what listens inside the sandbox."""
