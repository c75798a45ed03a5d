"""What the agent remembers of a person from session to session."""
