"""Which files a run changed. The paths are a sandbox's words: as many and as long as it likes."""

from __future__ import annotations

from backend_api.agent.events import FilesChanged
from backend_api.agent.tool import Done

MAX_FILES = 1_000
"""Of a run; further ones are told of only by their `files.changed`."""


def changed_by(outcome: Done) -> FilesChanged | None:
    """What is told of the files that a call changed; None where it changed none."""
    if not outcome.changed_paths:
        return None
    return FilesChanged(paths=outcome.changed_paths, origin="agent", removed=outcome.removed_paths)


def add_changed(files: list[str], changed: FilesChanged) -> None:
    """Add those that are new, in their order and up to the bound, and take away those that are gone, also with a
    folder."""
    gone = frozenset(changed.removed)
    if gone:
        folders = tuple(f"{path}/" for path in gone)
        files[:] = [path for path in files if path not in gone and not path.startswith(folders)]
    for path in changed.paths:
        if len(files) >= MAX_FILES:
            return
        if path not in files and path not in gone:
            files.append(path)
