"""Listing, finding, moving and deleting inside located places; blocking, for a thread."""

from __future__ import annotations

import errno
import os
import stat
import time
import unicodedata
from contextlib import closing, suppress

from tool_api.glob import Glob
from tool_api.shown_names import shown_name, shown_names
from tool_api.tree_walk import DEEPEST, walk
from tool_api.workspace import Located, Workspace

MAX_ENTRIES = 1000
_FIND_S = 10.0
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
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
    prefix = "" if place.path == "." else f"{place.path}/"
    until = time.monotonic() + _FIND_S
    found: list[str] = []
    is_cut = False
    with closing(walk(place.open_folder())) as folders:
        for folder in folders:
            places = glob.places_after(_compared(folder.path))
            if not places:
                folder.folders.clear()
                continue
            folder.folders[:] = [name for name in folder.folders if name not in _SKIPPED]
            below = f"{folder.path}/" if folder.depth else ""
            for name in sorted([*folder.files, *folder.folders]):
                if time.monotonic() > until:
                    return found, True
                if glob.accepts(glob.follow(places, _compared(name))):
                    if len(found) == MAX_ENTRIES:
                        return found, True
                    found.append(f"{prefix}{shown_name(below)}{shown_name(name)}")
            is_cut |= folder.depth >= DEEPEST and bool(folder.folders)
    return found, is_cut


def _compared(name: str) -> str:
    """A name as a pattern is compared with it."""
    return name if name.isascii() else unicodedata.normalize("NFC", shown_name(name))


def move(workspace: Workspace, source: Located, destination: str, *, overwrite: bool) -> str:
    """Move a file or folder; returns its new path."""
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
    """Delete a file, a link, an empty folder, or with `recursive` any folder; until some time of `time.monotonic()`."""
    if not stat.S_ISDIR(place.stat().st_mode):
        os.unlink(place.name, dir_fd=place.folder)
        return
    if recursive:
        _empty_folder(place.open_folder(), until, DEEPEST)
    os.rmdir(place.name, dir_fd=place.folder)


def _empty_folder(fd: int, until: float, levels: int) -> None:
    """Empty the folder of this descriptor, which it takes over; folders inside may be `levels` deep."""
    try:
        with os.scandir(fd) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for name, is_folder in found:
            if time.monotonic() > until:
                raise TimeoutError(errno.ETIMEDOUT, "there was no time to delete all of it")
            if not is_folder:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=fd)
            elif levels:
                _empty_folder(os.open(name, _FOLDER, dir_fd=fd), until, levels - 1)
                os.rmdir(name, dir_fd=fd)
            else:
                raise OSError(errno.ENAMETOOLONG, "folders lie too deep in it, delete it by a command")
    finally:
        os.close(fd)
