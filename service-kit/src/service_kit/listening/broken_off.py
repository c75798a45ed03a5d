"""Answers that began and can't be completed."""

from __future__ import annotations


class BrokenOffError(Exception):
    """Raised by an application that has reported the cause: the connection ends at once, and nothing more is logged."""
