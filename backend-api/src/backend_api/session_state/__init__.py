"""The present state of a session as a whole."""
