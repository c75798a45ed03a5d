"""Secrets of a deployment: configured and checked, or generated once and kept in the data folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

MIN_SECRET_BYTES = 32
_DEFAULT_LOOKING = ("change", "secret", "default", "example", "your-", "your_", "password", "insecure", "xxx", "todo")


def keep_secret(folder: Path, name: str) -> str:
    """The secret of that name: read from its file, or generated and written for the owner alone."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    fresh = secrets.token_urlsafe(48)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = path.read_text().strip()
        if len(kept.encode()) >= MIN_SECRET_BYTES:
            return kept
        path.chmod(0o600)
        path.write_text(fresh)
        return fresh
    with os.fdopen(descriptor, "w") as file:
        file.write(fresh)
    return fresh


def checked_secret(name: str, secret: str) -> str:
    """The value of the setting of this name. Raises `ValueError` if it could be guessed."""
    if len(secret.encode()) < MIN_SECRET_BYTES:
        raise ValueError(f"{name} is too short: set at least {MIN_SECRET_BYTES} random bytes.")
    if len(set(secret)) < 8 or any(word in secret.lower() for word in _DEFAULT_LOOKING):
        raise ValueError(f"{name} looks like a default: set random bytes, e.g. by `openssl rand -hex 32`.")
    return secret
