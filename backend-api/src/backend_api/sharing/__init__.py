"""Shared conversations: links for others to read, and files to download."""
