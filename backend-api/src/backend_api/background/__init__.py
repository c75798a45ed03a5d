"""Background commands of a session's sandbox."""
