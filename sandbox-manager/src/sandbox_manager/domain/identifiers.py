"""Identifiers, checked where they enter. They become names of folders, of containers and of processes' marks."""

from __future__ import annotations

import re

from contracts.identifiers import NAME, SANDBOX_ID, SNAPSHOT_ID
from sandbox_manager.domain.errors import InvalidError

_NAME, _SANDBOX_ID, _SNAPSHOT_ID = (re.compile(pattern) for pattern in (NAME, SANDBOX_ID, SNAPSHOT_ID))
_POOL = "pool."
_MOST_GENERATIONS = 2**31


class InvalidIdentifierError(InvalidError):
    """The value can be no identifier of this kind."""

    code = "invalid_identifier"


def pool_session(sandbox_id: str) -> str:
    """The placeholder session of an unclaimed sandbox; no session's id can hold a dot."""
    return f"{_POOL}{sandbox_id}"


def parse_sandbox_id(value: object) -> str:
    """Raises `InvalidIdentifierError`."""
    return _matched(_SANDBOX_ID, value, "sandbox_id")


def parse_session_id(value: object) -> str:
    """A session's id, or a placeholder for one. Raises `InvalidIdentifierError`."""
    if isinstance(value, str) and value.startswith(_POOL):
        return pool_session(_matched(_SANDBOX_ID, value.removeprefix(_POOL), "session_id"))
    return _matched(_NAME, value, "session_id")


def parse_user_id(value: object) -> str:
    """Raises `InvalidIdentifierError`."""
    return _matched(_NAME, value, "user_id")


def parse_snapshot_id(value: object) -> str:
    """Raises `InvalidIdentifierError`."""
    return _matched(_SNAPSHOT_ID, value, "snapshot_id")


def parse_generation(value: object) -> int:
    """A generation, from a number or its digits. Raises `InvalidIdentifierError`."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,10}", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MOST_GENERATIONS:
        raise InvalidIdentifierError("This is not a generation of a sandbox.", field="generation")
    return value


def _matched(pattern: re.Pattern[str], value: object, field: str) -> str:
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise InvalidIdentifierError(f"This is not a valid {field.replace('_', ' ')}.", field=field)
    return value
