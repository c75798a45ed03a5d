"""Files that a run changed. The paths come from a sandbox: they may be of any number and length."""

from __future__ import annotations

from backend_api.agent.events import FilesChanged
from backend_api.agent.tool import Done

MAX_FILES = 1_000
"""The most files of a run in its end; further ones only appear in their `files.changed`."""


def changed_by(outcome: Done) -> FilesChanged | None:
    """The event for the files that a call changed; None if it changed none."""
    if not outcome.changed_paths:
        return None
    return FilesChanged(paths=outcome.changed_paths, origin="agent", removed=outcome.removed_paths)


def add_changed(files: list[str], changed: FilesChanged) -> None:
    """Add new paths in their order and up to the bound, and remove deleted ones, with all below a deleted folder."""
    gone = frozenset(changed.removed)
    if gone:
        folders = tuple(f"{path}/" for path in gone)
        files[:] = [path for path in files if path not in gone and not path.startswith(folders)]
    for path in changed.paths:
        if len(files) >= MAX_FILES:
            return
        if path not in files and path not in gone:
            files.append(path)
