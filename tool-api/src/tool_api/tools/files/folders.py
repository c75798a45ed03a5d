"""Listing, finding, moving and deleting inside located places; blocking, for a thread."""

from __future__ import annotations

import errno
import os
import stat
import time
import unicodedata
from contextlib import closing, suppress
from dataclasses import dataclass, field

from tool_api.glob import Glob
from tool_api.shown_names import shown_name, shown_names
from tool_api.tree_walk import Folder, TreeChangedError, TreeCursor, walk
from tool_api.workspace import Located, Workspace

MAX_ENTRIES = 1000
_DEEPEST_FIND = 256
_FIND_S = 10.0
_SKIPPED = frozenset({".git", "node_modules", "__pycache__"})


def list_folder(place: Located) -> tuple[list[str], bool]:
    """Names in a folder, folders first and with a slash; and whether some were left out."""
    fd = place.open_folder()
    try:
        with os.scandir(fd) as entries:
            found = [(entry.name, entry.is_dir()) for entry in entries]
    finally:
        os.close(fd)
    shown = shown_names([name for name, _ in found])
    in_order = sorted((not is_folder, name) for name, (_, is_folder) in zip(shown, found, strict=True))
    names = [name if is_file else f"{name}/" for is_file, name in in_order]
    return names[:MAX_ENTRIES], len(names) > MAX_ENTRIES


def find_files(place: Located, pattern: str) -> tuple[list[str], bool]:
    """Paths below a folder that match a glob; and whether the search was cut short."""
    glob = Glob(unicodedata.normalize("NFC", pattern))
    search = _Search(glob, "" if place.path == "." else f"{place.path}/", time.monotonic() + _FIND_S)
    # What led to the folder and to those it lies in.
    states: list[int] = []
    with closing(walk(place.open_folder())) as folders:
        try:
            for folder in folders:
                del states[folder.depth :]
                states.append(glob.follow(states[-1], f"{_compared(folder.name)}/") if folder.depth else glob.start)
                if not search.look_into(folder, states[-1]):
                    return search.found[:MAX_ENTRIES], True
        except TreeChangedError:
            return search.found, True
    return search.found, search.is_cut


@dataclass(slots=True)
class _Search:
    glob: Glob
    prefix: str
    until: float
    found: list[str] = field(default_factory=list[str])
    is_cut: bool = False

    def look_into(self, folder: Folder, state: int) -> bool:
        """Take what matches in a folder; False when there was too much of it, or no time left."""
        if not state:
            folder.folders.clear()
            return True
        folder.folders[:] = [name for name in folder.folders if name not in _SKIPPED]
        below = f"{folder.path}/" if folder.depth else ""
        for name in sorted([*folder.files, *folder.folders]):
            if self.glob.accepts(self.glob.follow(state, _compared(name))):
                self.found.append(f"{self.prefix}{shown_name(below)}{shown_name(name)}")
                if len(self.found) > MAX_ENTRIES:
                    return False
            if time.monotonic() > self.until:
                return False
        if folder.depth >= _DEEPEST_FIND and folder.folders:
            self.is_cut = True
            folder.folders.clear()
        return True


def _compared(name: str) -> str:
    """A name as a pattern is compared with it."""
    return name if name.isascii() else unicodedata.normalize("NFC", shown_name(name))


def move(workspace: Workspace, source: Located, destination: str, *, overwrite: bool) -> str:
    """Move a file or folder; answers where it is now."""
    with workspace.locate(destination, make_folders=True) as target:
        try:
            found: os.stat_result | None = target.stat()
        except FileNotFoundError:
            found = None
        if found is not None and stat.S_ISDIR(found.st_mode):
            inner = f"{destination.rstrip('/')}/{source.name}"
            with workspace.locate(inner, follow=False) as inside:
                return _rename(source, inside, overwrite=overwrite)
        return _rename(source, target, overwrite=overwrite)


def _rename(source: Located, target: Located, *, overwrite: bool) -> str:
    try:
        target.stat()
    except FileNotFoundError:
        pass
    else:
        if not overwrite:
            raise FileExistsError(errno.EEXIST, "the destination exists", target.path)
    os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
    return target.path


def delete(place: Located, *, recursive: bool, until: float) -> None:
    """Delete a file, a link, an empty folder, or with `recursive` any folder, however deep; until some time of
    `time.monotonic()`, as somebody inside may make more as fast as it goes."""
    if not stat.S_ISDIR(place.stat().st_mode):
        os.unlink(place.name, dir_fd=place.folder)
        return
    if recursive:
        _delete_files(place.open_folder(), until)
    os.rmdir(place.name, dir_fd=place.folder)


def _delete_files(fd: int, until: float) -> None:
    with TreeCursor(fd) as cursor:
        left = [_without_files(cursor.fd, until)]
        while left:
            if left[-1]:
                cursor.enter(left[-1].pop())
                left.append(_without_files(cursor.fd, until))
            else:
                left.pop()
                if left:
                    name = cursor.leave()
                    os.rmdir(name, dir_fd=cursor.fd)


def _without_files(fd: int, until: float) -> list[str]:
    """Delete what is no folder; answers the folders."""
    with os.scandir(fd) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if time.monotonic() > until:
            raise TimeoutError(errno.ETIMEDOUT, "there was no time to delete all of it")
        if not is_folder:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=fd)
    return [name for name, is_folder in found if is_folder]
