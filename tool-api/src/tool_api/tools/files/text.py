"""Reading and changing the text of one file, all inside a located place; blocking, for a thread."""

from __future__ import annotations

import os
from dataclasses import dataclass

from service_kit.amounts import size_text
from tool_api.tools.files.diff import unified_diff
from tool_api.workspace import Located

MAX_READ_CHARACTERS = 200_000
MAX_SCANNED_BYTES = 256 * 1024 * 1024
MAX_EDIT_BYTES = 10 * 1024 * 1024
_LINE_BYTES = 1024 * 1024


class NotTextError(Exception):
    """The file is not UTF-8 text, or too big to be treated as such."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file: the text, the last line's number, and whether more was asked for than fitted."""

    text: str
    last: int
    size: int
    is_cut: bool


def read_lines(fd: int, size: int, start: int, end: int | None) -> Lines:
    """Lines `start` to `end` of an open file, bounded; closes it."""
    with os.fdopen(fd, "rb") as file:
        number, starts_line, scanned, room = 0, True, 0, MAX_READ_CHARACTERS
        taken: list[str] = []
        while piece := file.readline(_LINE_BYTES):
            scanned += len(piece)
            number += starts_line
            starts_line = piece.endswith(b"\n")
            if end is not None and number > end:
                return Lines("".join(taken), number - 1, size, is_cut=False)
            if number >= start:
                text = piece.decode("utf-8", "replace")
                if len(text) > room:
                    kept = "".join(taken)
                    return Lines(kept or text[:room], number - 1 if kept else number, size, is_cut=True)
                room -= len(text)
                taken.append(text)
            if scanned > MAX_SCANNED_BYTES:
                return Lines("".join(taken), number, size, is_cut=True)
    return Lines("".join(taken), number, size, is_cut=False)


def append_text(place: Located, text: str) -> int:
    """Add text to the end of a file, made if need be; answers the new size."""
    with os.fdopen(place.open(os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as file:
        file.write(text.encode())
        file.flush()
        return os.fstat(file.fileno()).st_size


@dataclass(frozen=True, slots=True)
class Replaced:
    """Outcome of a replacement: how often the text was found; the diff when the file was changed."""

    found: int
    diff: str | None = None


def replace_text(place: Located, old: str, new: str, *, every: bool) -> Replaced:
    """Replace the one occurrence, or every one; a text found more often than asked changes nothing."""
    with os.fdopen(place.open(), "rb") as file:
        data = file.read(MAX_EDIT_BYTES + 1)
    if len(data) > MAX_EDIT_BYTES:
        raise NotTextError(f"{place.path} is over {size_text(MAX_EDIT_BYTES)}, too big to edit.")
    try:
        before = data.decode()
    except UnicodeDecodeError as error:
        raise NotTextError(f"{place.path} is not UTF-8 text.") from error
    found = before.count(old)
    if found == 0 or (found > 1 and not every):
        return Replaced(found)
    if len(data) + found * (len(new.encode()) - len(old.encode())) > MAX_EDIT_BYTES:
        raise NotTextError(f"{place.path} would become over {size_text(MAX_EDIT_BYTES)}, too big to edit.")
    after = before.replace(old, new)
    place.write(after.encode())
    return Replaced(found, unified_diff(place.path, before, after))
