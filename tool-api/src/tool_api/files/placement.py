"""Giving files their names: all of them, or none."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from tool_api.errors import InvalidUploadError
from tool_api.file_names import numbered

_PIECE_BYTES = 1 << 20


class Placed(NamedTuple):
    """The name that a file has in the end, and whether it was put there now."""

    name: str
    is_new: bool


def place_beside(folder: int, files: Sequence[tuple[str, str]]) -> list[Placed]:
    """Rename each first name in a folder to its second, or to that one with a number if it is taken. Nothing is
    replaced, even if others place files there meanwhile; if one can't be placed, none is. A file that was there already
    with this content, under one of these names, stays the only one: whoever sends it again after a cut has no double.

    Names are compared as people read them (NFC): of two that look alike only one is there.
    """
    there = frozenset(os.listdir(f"/proc/self/fd/{folder}"))
    taken = {unicodedata.normalize("NFC", name) for name in there}
    placed: list[Placed] = []
    try:
        for temporary, name in files:
            placed.append(_place_under_free(folder, temporary, name, taken, there))
    except BaseException:
        for one in placed:
            if one.is_new:
                with contextlib.suppress(OSError):
                    os.unlink(one.name, dir_fd=folder)
        raise
    for temporary, _ in files:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
    return placed


def _place_under_free(folder: int, temporary: str, name: str, taken: set[str], there: frozenset[str]) -> Placed:
    number, tried = 1, name
    while True:
        read_as = unicodedata.normalize("NFC", tried)
        if read_as not in taken and _place_new(folder, temporary, tried):
            taken.add(read_as)
            return Placed(tried, is_new=True)
        if tried in there and _has_same_content(folder, temporary, tried):
            return Placed(tried, is_new=False)
        taken.add(read_as)
        number += 1
        tried = numbered(name, number)


def _has_same_content(folder: int, one: str, other: str) -> bool:
    """Whether the other is a file with the same bytes. The agent may have put anything there, as a pipe that never
    ends."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with contextlib.ExitStack() as opened:
            files = [
                opened.enter_context(open(name, "rb", opener=lambda path, _: os.open(path, flags, dir_fd=folder)))
                for name in (one, other)
            ]
            found = [os.fstat(file.fileno()) for file in files]
            if not all(stat.S_ISREG(each.st_mode) for each in found) or found[0].st_size != found[1].st_size:
                return False
            left = found[0].st_size
            while left > 0:
                first, second = (file.read(min(_PIECE_BYTES, left)) for file in files)
                if first != second or not first:
                    return False
                left -= len(first)
            return True
    except OSError:
        return False


def _place_new(folder: int, temporary: str, name: str) -> bool:
    """Whether the file could take the name; a taken name is left alone."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError:
        # Not every file system gives a file two names: an empty one of ours holds the name until it is replaced.
        try:
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder))
        except FileExistsError:
            return False
        try:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise
    return True


def place_all(folder: int, files: Sequence[tuple[str, str]]) -> None:
    """Rename each first name in a folder to its second, replacing files; when one can't be, the second names are as
    they were, while some of the first may be gone.

    Raises:
        InvalidUploadError: a folder stands in the place of a file.
    """
    for _, name in files:
        if _is_folder(folder, name):
            raise InvalidUploadError(f"{name} is a folder.")
    steps: list[tuple[str, str, str | None]] = []
    try:
        for temporary, name in files:
            if (kept := _keep_former(folder, name)) is not None:
                steps.append((temporary, name, kept))
                _rename(folder, temporary, name)
            else:
                _rename(folder, temporary, name)
                steps.append((temporary, name, None))
    except BaseException:
        for step in reversed(steps):
            _undo(folder, *step)
        raise
    for _, _, kept in steps:
        if kept is not None:
            with contextlib.suppress(OSError):
                os.unlink(kept, dir_fd=folder)


def _keep_former(folder: int, name: str) -> str | None:
    """Another name for an existing file; None if there is none."""
    kept = f".{secrets.token_hex(8)}.part"
    try:
        os.link(name, kept, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        return kept
    except FileNotFoundError:
        return None
    except OSError as error:
        if _is_folder(folder, name):
            raise InvalidUploadError(f"{name} is a folder.") from error
    # Not every file system, and not every file, may have two names.
    os.rename(name, kept, src_dir_fd=folder, dst_dir_fd=folder)
    return kept


def _undo(folder: int, temporary: str, name: str, kept: str | None) -> None:
    with contextlib.suppress(OSError):
        if kept is None:
            os.rename(name, temporary, src_dir_fd=folder, dst_dir_fd=folder)
            return
        os.rename(kept, name, src_dir_fd=folder, dst_dir_fd=folder)
        # If both are names of one file, renaming does nothing.
        os.unlink(kept, dir_fd=folder)


def _rename(folder: int, temporary: str, name: str) -> None:
    try:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except IsADirectoryError as error:
        raise InvalidUploadError(f"{name} is a folder.") from error


def _is_folder(folder: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False
