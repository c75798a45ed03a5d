"""Times with the precision of the store, so that a value returned at once equals the one read later."""

from __future__ import annotations

from datetime import UTC, datetime


def to_millisecond(at: datetime) -> datetime:
    """The time cut to milliseconds, as stores keep it."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def format_time(at: datetime) -> str:
    """RFC 3339 in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"
