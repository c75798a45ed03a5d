"""What can keep the stack from starting, in words for the person who started it."""

from __future__ import annotations


class StackError(Exception):
    """The stack can't start or go on; the message says why and what to do."""
