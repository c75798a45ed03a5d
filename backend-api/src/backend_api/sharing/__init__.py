"""Conversations that others may read: links, and files to take along."""
