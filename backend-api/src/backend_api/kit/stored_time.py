"""Times as exact as they are stored, so that what is answered at once equals what is read later."""

from __future__ import annotations

from datetime import UTC, datetime


def to_millisecond(at: datetime) -> datetime:
    """The time without what is below a millisecond, which no store keeps."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def format_time(at: datetime) -> str:
    """RFC 3339 in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"
