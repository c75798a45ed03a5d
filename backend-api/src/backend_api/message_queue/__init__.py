"""Messages that wait in a session for the end of the run at work."""
