"""Which person controls the computer of a session."""
