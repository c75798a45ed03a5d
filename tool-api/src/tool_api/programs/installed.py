"""Programs that the tool API itself starts: those of the machine, and none that the agent put into a folder that is
searched first, such as a home's `.local/bin`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def find_program(*names: str, search_path: str | None = None) -> str | None:
    """The first of these on `search_path`, or on PATH without the folders in this user's home when it is None."""
    folders = _folders() if search_path is None else search_path
    return next((path for name in names if (path := shutil.which(name, path=folders))), None)


def _folders() -> str:
    home = Path(os.path.realpath(Path.home()))
    folders = [folder for folder in os.get_exec_path() if not Path(os.path.realpath(folder)).is_relative_to(home)]
    return os.pathsep.join(folders)
