"""Settings that hold several numbers, each under a name: `login=10/minute,messages=60/minute`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One that may be named: what holds where it is not, what it may be, and the time in which it counts, if any."""

    default: int
    least: int = 0
    most: int = 10**15
    per: str = ""

    def written(self, name: str, value: int) -> str:
        """As it stands in the setting."""
        return f"{name}={value}/{self.per}" if self.per else f"{name}={value}"


def read_numbers(text: str, known: Mapping[str, Number]) -> dict[str, int]:
    """Every known one: as the text has it, else its default. Raises `ValueError` that says what may be written."""
    found: dict[str, int] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, value = (one.strip() for one in part.partition("="))
        if name not in known:
            may = ", ".join(one.written(each, one.default) for each, one in known.items())
            raise ValueError(f"'{name}' is none of its names, which have these values unless it says others: {may}")
        if name in found:
            raise ValueError(f"{name} stands there twice")
        found[name] = _number(name, value, known[name])
    return {name: found.get(name, one.default) for name, one in known.items()}


def _number(name: str, text: str, known: Number) -> int:
    digits, slash, per = (one.strip() for one in text.partition("/"))
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= 15
    # None in any time is none at all.
    is_timed = (per if slash else None) == (known.per or None) or text == "0"
    if not is_number or not is_timed:
        counted = f" by the {known.per}" if known.per else ""
        raise ValueError(f"'{name}={text}' is no whole number{counted}, such as {known.written(name, known.default)}")
    if not known.least <= int(digits) <= known.most:
        raise ValueError(f"{name} is a number from {known.least} to {known.most}, not {digits}")
    return int(digits)
