"""Clients of the sandbox manager and of the tool API in each sandbox."""
