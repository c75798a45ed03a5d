"""Contracts between the Python services: pydantic models, identifiers, problem details."""
