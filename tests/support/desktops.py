"""A real desktop with folders of its own, run by an ordinary user as Chrome wants it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tool_api.desktop.settings import DesktopSettings

ORDINARY_USER = 1000


@contextmanager
def desktop_settings() -> Generator[DesktopSettings]:
    """Settings whose folders are removed afterwards; Chrome chooses a free control port."""
    root = Path(tempfile.mkdtemp(prefix="desktop-", dir="/tmp"))
    user = ORDINARY_USER if os.getuid() == 0 else None
    folders = [root / "run", root / "home", root / "home" / ".config", root / "workspace"]
    for folder in (root, *folders):
        folder.mkdir(exist_ok=True)
        if user is not None:
            os.chown(folder, user, user)
    try:
        yield DesktopSettings(
            run_dir=root / "run", home=root / "home", workspace=root / "workspace", cdp_port=0, user=user
        )
    finally:
        shutil.rmtree(root, ignore_errors=True)
