"""Types of fields in the settings of several contexts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, SecretStr
from pydantic_settings import NoDecode


def _split(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
"""A list separated by commas."""


def checked_key(value: SecretStr | None) -> SecretStr | None:
    """A key without surrounding white space. Raises `ValueError` if it can't be sent in a header."""
    key = value.get_secret_value().strip() if value else ""
    if any(not "!" <= sign <= "~" for sign in key):
        raise ValueError("a key must be ASCII letters, digits and punctuation, without spaces")
    return SecretStr(key) if key else None
