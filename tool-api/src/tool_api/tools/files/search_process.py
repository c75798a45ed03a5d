"""Regular-expression search where ripgrep is missing; its arguments: `<pattern> <target> <i or nothing>`.

Prints as ripgrep does: the path, NUL, `number:text`; exit code 1 for no match, 2 for a bad pattern.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Generator

from tool_api.text_encoding import encoding_of_file
from tool_api.tree_walk import walk

_SKIPPED = {".git", "node_modules"}
_MAX_COLUMNS = 500
_MAX_LINE = 100_000
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def _files(target: str) -> Generator[tuple[str, int]]:
    """The regular files of a target, each opened, for the reader to close."""
    if not os.path.isdir(target):
        yield from _open_regular(target, target, None)
        return
    for folder in walk(os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)):
        folder.folders[:] = [name for name in folder.folders if name not in _SKIPPED]
        path = f"{target}/{folder.path}" if folder.depth else target
        for name in folder.files:
            yield from _open_regular(f"{path}/{name}", name, folder.fd)


def _open_regular(path: str, name: str, folder: int | None) -> Generator[tuple[str, int]]:
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return
    if stat.S_ISREG(os.fstat(fd).st_mode):
        yield path, fd
    else:
        os.close(fd)


def _search(path: str, fd: int, pattern: re.Pattern[str]) -> bool:
    has_match = False
    try:
        with os.fdopen(fd, "rb") as file:
            encoding = encoding_of_file(fd)
            if encoding is None:
                return False
            file.seek(len(encoding.mark))
            lines = io.TextIOWrapper(file, encoding.codec, "replace", newline="\n")
            for number, line in enumerate(iter(lambda: lines.readline(_MAX_LINE), ""), 1):
                text = line.rstrip("\r\n")
                if pattern.search(text):
                    # As bytes: a path need not be text.
                    sys.stdout.buffer.write(os.fsencode(path) + f"\0{number}:{text[:_MAX_COLUMNS]}\n".encode())
                    has_match = True
    except OSError:
        return has_match
    return has_match


def main() -> int:
    """Search, and return the exit code."""
    pattern, target, flags = sys.argv[1:4]
    try:
        compiled = re.compile(pattern, re.IGNORECASE if flags else 0)
    except re.error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    has_match = False
    for path, fd in _files(target):
        has_match |= _search(path, fd, compiled)
    return 0 if has_match else 1
