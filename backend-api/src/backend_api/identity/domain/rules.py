"""Rules for names, passwords and e-mail addresses."""

from __future__ import annotations

import re

from backend_api.kit.errors import InvalidError

MIN_PASSWORD = 8
MAX_PASSWORD = 256
_USERNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,31}")
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")


def check_username(username: str) -> None:
    """Raises `InvalidError` for a name that breaks the rules."""
    if not _USERNAME.fullmatch(username):
        raise InvalidError(
            "A user name has 2 to 32 letters, digits, dots, hyphens or underscores and starts with a letter or digit.",
            field="body.username",
        )


def check_password(password: str, *, field: str = "body.password") -> None:
    """Raises `InvalidError` for a password too short or too long."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise InvalidError(f"A password has {MIN_PASSWORD} to {MAX_PASSWORD} characters.", field=field)


def check_email(email: str | None) -> None:
    """Raises `InvalidError` for a text that can't be an e-mail address."""
    if email is not None and not _EMAIL.fullmatch(email):
        raise InvalidError("This is not an e-mail address.", field="body.email")
