"""Commands that run in the background of a session's sandbox."""
