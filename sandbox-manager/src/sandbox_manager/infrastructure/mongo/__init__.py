"""The manager's own database."""
