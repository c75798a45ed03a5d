"""Where the code of the services is, as `PYTHONPATH` wants it."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SHARED = ("contracts", "service-kit")


def source_folders(service: str) -> tuple[Path, ...]:
    """Of the service and what it shares with the others."""
    return tuple(ROOT / part / "src" for part in (service, *_SHARED))


def python_path(*services: str) -> str:
    """Of these services and what they share, one entry after the other."""
    return os.pathsep.join(str(ROOT / part / "src") for part in (*services, *_SHARED))
