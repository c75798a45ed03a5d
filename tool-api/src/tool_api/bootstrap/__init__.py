"""Settings and composition of the tool API."""
