"""The source files of a tree: those of supported languages, without files that `.gitignore` leaves out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from tool_api.navigation.ignored import MAX_BYTES, NAME, Ignored
from tool_api.navigation.languages import language_of, language_of_first_line
from tool_api.navigation.parsing import as_utf8
from tool_api.navigation.places import MAX_FILE_BYTES
from tool_api.shown_names import shown_name
from tool_api.tree_walk import Folder, walk

SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})
_ENVIRONMENT = "pyvenv.cfg"
"""A file that marks a Python environment, whose sources others wrote."""
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file. `path` is text, which a file's path need not be. `source` is UTF-8, None if the file is too large
    to be read."""

    path: str
    language: str
    source: bytes | None


def source_files(target: str, above: list[tuple[str, str]], skipped: frozenset[str]) -> Iterator[SourceFile]:
    """The source files of a folder in the order of their paths, or the one file. `above` are the texts of `.gitignore`
    of the folders above, each with the relative path from there to the target."""
    if target != ".":
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield from _read(target.removeprefix("./"), target.removeprefix("./"), folder)
        finally:
            os.close(folder)
        return
    ancestors = [(way, Ignored(text)) for way, text in above]
    rules: list[Ignored] = []
    for folder in walk(os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)):
        path = f"{folder.path}/" if folder.depth else ""
        rules = [rule for rule in rules if path.startswith(rule.folder)]
        if NAME in folder.files and (text := _text(folder)):
            rules.append(Ignored(text, path))
        kept = _CachedSource(ancestors, rules)
        folder.folders[:] = [
            name for name in folder.folders if name not in SKIPPED and kept.has(path + name, is_folder=True)
        ]
        if _ENVIRONMENT in folder.files:
            folder.folders.clear()
            continue
        for name in folder.files:
            if (
                shown_name(path + name) not in skipped
                and language_of(name) is not None
                and kept.has(path + name, is_folder=False)
            ):
                yield from _read(path + name, name, folder.fd)


@dataclass(frozen=True, slots=True)
class _CachedSource:
    ancestors: list[tuple[str, Ignored]]
    rules: list[Ignored]

    def has(self, path: str, *, is_folder: bool) -> bool:
        for rule in reversed(self.rules):
            if (is_left_out := rule.judge(path, is_folder=is_folder)) is not None:
                return not is_left_out
        for way, rule in reversed(self.ancestors):
            if (is_left_out := rule.judge(f"{way}/{path}", is_folder=is_folder)) is not None:
                return not is_left_out
        return True


def _text(folder: Folder) -> str:
    data = _bytes(NAME, folder.fd, MAX_BYTES)
    return data.decode("utf-8", "replace") if data else ""


def _read(path: str, name: str, folder: int) -> Iterator[SourceFile]:
    language = language_of(name)
    if language == "":
        language = language_of_first_line(_bytes(name, folder, 200) or b"")
    if language is None:
        return
    data = _bytes(name, folder, MAX_FILE_BYTES + 1)
    if data is None:
        return
    if len(data) > MAX_FILE_BYTES:
        yield SourceFile(shown_name(path), language, None)
    elif (source := as_utf8(data)) is not None:
        yield SourceFile(shown_name(path), language, source)


def _bytes(name: str, folder: int, most: int) -> bytes | None:
    """The beginning of a regular file, None where it can't be read."""
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = bytearray()
        while len(data) < most and (piece := os.read(fd, most - len(data))):
            data += piece
        return bytes(data)
    except OSError:
        return None
    finally:
        os.close(fd)
