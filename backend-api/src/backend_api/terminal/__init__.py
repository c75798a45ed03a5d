"""Terminals of people in the sandboxes of their sessions."""
