"""Kinds of sub-agents, of the deployment and of each user."""
