"""Connections to programs that listen inside the sandbox."""
