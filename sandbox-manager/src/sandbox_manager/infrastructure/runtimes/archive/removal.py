"""Removes trees of any depth, width and rights, even while programs still work in them.

The tree lies in an open folder of the remover's own. A folder that is not empty is moved up into it instead of being
descended into: no path is ever longer than one name, a handful of descriptors is open, nothing recurses, and an
interrupted removal can be continued. Nothing is reached by a path and no symlink is followed.
"""

from __future__ import annotations

import errno
import itertools
import os
import secrets
import stat
import time

from sandbox_manager.infrastructure.runtimes.archive.bounds import FOLDER

_BATCH = 500
_NOT_EMPTY = (errno.ENOTEMPTY, errno.EEXIST)


def empty(place: int, prefix: str, until: float) -> None:
    """Remove everything in an open folder whose name has this prefix, until a time of `time.monotonic`.

    Raises `OSError`: `ETIMEDOUT` if there is more than can be removed until then, else the error of the first entry
    that stays. All other entries are gone.
    """
    kept: dict[str, OSError] = {}
    while names := _next_names(place, prefix, kept):
        for name in names:
            try:
                _remove(place, name, prefix, until)
            except FileNotFoundError:
                continue  # somebody else removes it too
            except OSError as error:
                if error.errno == errno.ETIMEDOUT:
                    raise
                kept[name] = error
    for error in kept.values():
        raise error


def move_aside(source: int, name: str, place: int, new_name: str) -> bool:
    """Move an entry of one open folder into another; False if there is none."""
    try:
        try:
            os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=place)
        except PermissionError:  # a folder's own entry `..` changes
            _make_accessible(source, name)
            os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=place)
    except FileNotFoundError:
        return False
    return True


def _next_names(place: int, prefix: str, kept: dict[str, OSError]) -> list[str]:
    with os.scandir(place) as entries:
        names = (entry.name for entry in entries)
        return list(itertools.islice((one for one in names if one.startswith(prefix) and one not in kept), _BATCH))


def _remove(place: int, name: str, prefix: str, until: float) -> None:
    _check(until)
    if not stat.S_ISDIR(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=place)
        return
    while not _removed_folder(place, name):
        _check(until)
        folder = open_folder(place, name)
        try:
            _take_all_out(folder, place, prefix, until)
        finally:
            os.close(folder)


def _take_all_out(folder: int, place: int, prefix: str, until: float) -> None:
    trouble: OSError | None = None
    with os.scandir(folder) as entries:
        for entry in entries:
            _check(until)
            try:
                _remove_entry(folder, entry, place, prefix)
            except FileNotFoundError:
                continue
            except OSError as error:
                trouble = trouble or error
    if trouble is not None:
        raise trouble


def _remove_entry(folder: int, entry: os.DirEntry[str], place: int, prefix: str) -> None:
    if not entry.is_dir(follow_symlinks=False):
        os.unlink(entry.name, dir_fd=folder)
    elif not _removed_folder(folder, entry.name):
        move_aside(folder, entry.name, place, f"{prefix}{secrets.token_hex(8)}")


def _removed_folder(folder: int, name: str) -> bool:
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError as error:
        if error.errno in _NOT_EMPTY:
            return False
        raise
    return True


def open_folder(place: int, name: str) -> int:
    """Open a subfolder, whatever its rights, and give its owner all of them. Raises `OSError`."""
    try:
        folder = os.open(name, FOLDER, dir_fd=place)
    except PermissionError:
        _make_accessible(place, name)
        folder = os.open(name, FOLDER, dir_fd=place)
    if stat.S_IMODE(os.fstat(folder).st_mode) & stat.S_IRWXU != stat.S_IRWXU:
        os.fchmod(folder, stat.S_IRWXU)
    return folder


def _make_accessible(place: int, name: str) -> None:
    """Give the owner all rights over a folder nobody may open; a symlink is refused."""
    held = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    try:
        os.chmod(f"/proc/self/fd/{held}", stat.S_IRWXU)
    finally:
        os.close(held)


def _check(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError(errno.ETIMEDOUT, "there is more than can be removed at once")
