"""Inbound interfaces."""
