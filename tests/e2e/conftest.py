"""Fixtures of the end-to-end tests."""

from support.stack import stack

__all__ = ["stack"]
