"""Sandboxes as processes in bubblewrap, for machines without a container engine."""
