"""Amounts in the words of people: "4 seconds", "10 MB"."""

from __future__ import annotations

from datetime import timedelta

_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_STEP = 1024


def size_text(size: float) -> str:
    """A number of bytes: small ones whole, larger ones in the unit with the fewest digits, with one decimal unless it
    is zero. 1 KB is 1,024 bytes."""
    if abs(size) < _STEP:
        return f"{size:,.0f} {'byte' if round(size) == 1 else 'bytes'}"
    unit = 0
    while unit + 1 < len(_UNITS) and round(abs(size), 1) >= _STEP:
        size, unit = size / _STEP, unit + 1
    return f"{_short(size)} {_UNITS[unit]}"


def duration_text(span: float | timedelta) -> str:
    """A span of time, in seconds if it is a number: its two largest units."""
    seconds = span.total_seconds() if isinstance(span, timedelta) else float(span)
    if abs(seconds) < 10 and seconds != round(seconds):
        return f"{seconds:.2g} seconds"
    return _whole(round(seconds))


def _whole(seconds: int) -> str:
    parts: list[str] = []
    rest = abs(seconds)
    for unit, of_unit in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        count, rest = divmod(rest, of_unit)
        if count:
            parts.append(_counted(count, unit))
        elif parts:
            break
        if len(parts) == 2:
            break
    return " and ".join(parts) or "0 seconds"


def _counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


def _short(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")
