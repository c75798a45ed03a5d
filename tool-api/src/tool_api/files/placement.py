"""Giving files their names: all of them, or none."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Sequence

from tool_api.errors import InvalidUploadError


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
    """Another name for what is there already; None when nothing is."""
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
        # Where both are names of one file, renaming does nothing.
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
