"""Checks of setting values: each returns the value to store, or raises `InvalidError` for `body.value`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from backend_api.kit.errors import InvalidError

FIELD = "body.value"
MAX_SECRET_CHARACTERS = 500
MAX_NAME_CHARACTERS = 200
MAX_NAMES = 200
_MAIL = re.compile(r"[^@\s]{1,100}@[^@\s.]+(?:\.[^@\s.]+)+")
Check = Callable[[Any], Any]


def refused(reason: str, fault: str | None = None) -> InvalidError:
    """The error of a value that can't be stored; `fault` is a stable code of the reason."""
    return InvalidError(reason, field=FIELD, fault=fault)


def flag(value: Any) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise refused("This setting must be true or false.")
    return value


def whole(least: int, most: int) -> Check:
    """A whole number of this range."""

    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise refused(f"This setting must be a whole number from {least} to {most}.")
        return value

    return check


def one_of(*choices: str) -> Check:
    """One of these words."""

    def check(value: Any) -> str:
        if value not in choices:
            raise refused(f"This setting must be one of: {', '.join(choices)}.")
        return cast("str", value)

    return check


def name(value: Any) -> str:
    """A name on one line."""
    return _line(value, MAX_NAME_CHARACTERS)


def names(most: int = MAX_NAMES) -> Check:
    """A list of at least one name; duplicates are dropped."""

    def check(value: Any) -> list[str]:
        if not isinstance(value, list) or not 1 <= len(cast("list[object]", value)) <= most:
            raise refused(f"This setting must be a list of 1 to {most} names.")
        return list(dict.fromkeys(_line(one, MAX_NAME_CHARACTERS) for one in cast("list[object]", value)))

    return check


def mail_address(value: Any) -> str:
    """A person's mail address."""
    address = _line(value, MAX_NAME_CHARACTERS)
    if not _MAIL.fullmatch(address):
        raise refused("This must be an e-mail address, such as librarian@example.org.")
    return address


def secret(value: Any) -> str:
    """A key as it is pasted: surrounding clutter is removed, and characters that a header can't contain are refused."""
    key = _line(value, MAX_SECRET_CHARACTERS)
    if any(not "!" <= character <= "~" for character in key):
        reason = "A key must be ASCII letters, digits and punctuation, without spaces."
        raise refused(reason, "key_characters")
    return key


def _line(value: object, most: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise refused("This setting must be a text that is not empty.")
    line = value.strip()
    if len(line) > most or not line.isprintable():
        raise refused(f"This setting must be one line of at most {most} characters.")
    return line
