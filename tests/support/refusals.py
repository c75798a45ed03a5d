"""How a provider refuses a request."""

from __future__ import annotations


class RefusedError(Exception):
    """A request that the provider does not take."""


def refuse_if(is_wrong: object, reason: str) -> None:
    """Raises `RefusedError`."""
    if is_wrong:
        raise RefusedError(reason)
