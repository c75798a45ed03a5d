"""Messages that wait in a session for the end of the active run."""
