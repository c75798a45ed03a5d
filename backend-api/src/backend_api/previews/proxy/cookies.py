"""The cookie that a browser has for an opened port: on that port's own host, and out of reach of the program there."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.datastructures import Headers
from starlette.types import Scope

_NAME = "preview-access"
_SECURE_NAME = f"__Host-{_NAME}"
"""A prefixed name, which browsers let only the host itself set."""
OWN_COOKIES = frozenset({_NAME.encode(), _SECURE_NAME.encode()})
_MAX_COOKIES = 4
_MAX_CHARACTERS = 2048


def cookie_header(scope: Scope, value: str, max_age_s: int) -> tuple[bytes, bytes]:
    """The header that sets the cookie."""
    secure = "; Secure" if scope["scheme"] == "https" else ""
    text = f"{_name(scope)}={value}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}"
    return b"set-cookie", text.encode()


def read_cookies(scope: Scope) -> list[str]:
    """All cookies of the name: programs on neighbouring hosts may have planted others."""
    found = dict.fromkeys(value for name, value in _pairs(scope) if name == _name(scope))
    return [value for value in found if 0 < len(value) <= _MAX_CHARACTERS][:_MAX_COOKIES]


def _name(scope: Scope) -> str:
    return _SECURE_NAME if scope["scheme"] in ("https", "wss") else _NAME


def _pairs(scope: Scope) -> Iterator[tuple[str, str]]:
    for header in Headers(scope=scope).getlist("cookie"):
        for pair in header.split(";"):
            name, _, value = pair.strip().partition("=")
            yield name, value
