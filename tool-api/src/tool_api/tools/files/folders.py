"""Listing, finding, moving and deleting inside located places; blocking, for a thread."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import time

from tool_api.workspace import Located, Workspace

MAX_ENTRIES = 1000
_FIND_S = 10.0
_SKIPPED = frozenset({".git", "node_modules", "__pycache__"})


def list_folder(place: Located) -> tuple[list[str], bool]:
    """Names in a folder, folders first and with a slash; and whether some were left out."""
    fd = place.open_folder()
    try:
        with os.scandir(fd) as entries:
            found = sorted((not entry.is_dir(), entry.name) for entry in entries)
    finally:
        os.close(fd)
    names = [name if is_file else f"{name}/" for is_file, name in found]
    return names[:MAX_ENTRIES], len(names) > MAX_ENTRIES


def find_files(place: Located, pattern: str) -> tuple[list[str], bool]:
    """Paths below a folder that match a glob; and whether the search was cut short."""
    matches = glob_matcher(pattern)
    found: list[str] = []
    until = time.monotonic() + _FIND_S
    prefix = "" if place.path == "." else f"{place.path}/"
    fd = place.open_folder()
    try:
        for folder, folders, files, _ in os.fwalk(".", dir_fd=fd, follow_symlinks=False):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            below = "" if folder == "." else f"{folder.removeprefix('./')}/"
            for name in sorted([*files, *folders]):
                if matches.fullmatch(below + name):
                    found.append(f"{prefix}{below}{name}")
            if len(found) > MAX_ENTRIES or time.monotonic() > until:
                return found[:MAX_ENTRIES], True
    finally:
        os.close(fd)
    return found, False


def glob_matcher(pattern: str) -> re.Pattern[str]:
    """A glob as a regular expression over paths; a pattern without a slash matches names at any depth."""
    pattern = pattern.removeprefix("./")
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    tokens = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]/]+\])", pattern)
    return re.compile("".join(tokens.get(part) or _class_or_text(part) for part in parts), re.DOTALL)


def _class_or_text(part: str) -> str:
    if not (part.startswith("[") and part.endswith("]")):
        return re.escape(part)
    body = part[1:-1]
    is_negated = body.startswith("!")
    escaped = re.escape(body.removeprefix("!")).replace(r"\-", "-")
    try:
        re.compile(f"[{escaped}]")
    except re.error:
        return re.escape(part)
    return f"[{'^' if is_negated else ''}{escaped}]"


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


def delete(place: Located, *, recursive: bool) -> None:
    """Delete a file, a link, an empty folder, or with `recursive` any folder."""
    if not stat.S_ISDIR(place.stat().st_mode):
        os.unlink(place.name, dir_fd=place.folder)
    elif recursive:
        shutil.rmtree(place.name, dir_fd=place.folder)
    else:
        os.rmdir(place.name, dir_fd=place.folder)
