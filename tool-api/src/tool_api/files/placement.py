"""Giving files their names: all of them, or none."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import unicodedata
from collections.abc import Sequence

from tool_api.errors import InvalidUploadError
from tool_api.file_names import numbered


def place_beside(folder: int, files: Sequence[tuple[str, str]]) -> list[str]:
    """Rename each first name in a folder to its second, or to that one with a number if it is taken; returns the final
    names. Nothing is replaced, even if others place files there meanwhile; if one can't be placed, none is.

    Names are compared as people read them (NFC): of two that look alike only one is there.
    """
    taken = {unicodedata.normalize("NFC", name) for name in os.listdir(f"/proc/self/fd/{folder}")}
    placed: list[str] = []
    try:
        for temporary, name in files:
            placed.append(_place_under_free(folder, temporary, name, taken))
    except BaseException:
        for name in placed:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
        raise
    for temporary, _ in files:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
    return placed


def _place_under_free(folder: int, temporary: str, name: str, taken: set[str]) -> str:
    number, tried = 1, name
    while True:
        read_as = unicodedata.normalize("NFC", tried)
        if read_as not in taken and _place_new(folder, temporary, tried):
            taken.add(read_as)
            return tried
        taken.add(read_as)
        number += 1
        tried = numbered(name, number)


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
