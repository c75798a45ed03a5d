"""A secret that is generated once and kept in the data folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

MIN_SECRET_BYTES = 32


def keep_secret(folder: Path, name: str) -> str:
    """The secret of that name: read, or generated and written for the owner alone."""
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
