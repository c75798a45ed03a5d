"""Fixtures of the tests that run the compose file."""

from support.compose_stack import compose_stack

__all__ = ["compose_stack"]
