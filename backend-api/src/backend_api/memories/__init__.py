"""Memories: the agent's notes on a person, kept from session to session."""
