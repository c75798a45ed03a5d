"""Memories in the words a model reads: names with their first lines, or one file whole."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.memories.domain import MAX_USER_BYTES, Memories, MemoryFile
from backend_api.memories.paths import ROOT

MAX_LISTED = 60
MAX_LINE_CHARACTERS = 100
MAX_TOLD_CHARACTERS = 1_200
"""The most characters of the list that an agent reads as a run begins."""


def listed(files: Sequence[MemoryFile], most: int = MAX_LISTED, characters: int = MAX_USER_BYTES) -> str:
    """The list, one line each: name, size, first line; at most `characters` together."""
    lines = list[str]()
    for one in files[:most]:
        line = f"{ROOT}/{one.path} ({one.size} bytes): {_first_line(one.content)}"
        characters -= len(line) + 1
        if characters < 0:
            break
        lines.append(line)
    if len(files) > len(lines):
        lines.append(f"and {len(files) - len(lines)} more, told by memory_view of {ROOT}")
    return "\n".join(lines)


def overview(memories: Memories) -> str:
    """The list of all files, and the room they take."""
    size = f"{memories.size:,} of {MAX_USER_BYTES:,} bytes are used."
    return f"{listed(memories.files, len(memories.texts))}\n{size}" if memories.texts else "There are no memories yet."


def numbered(file: MemoryFile, first: int, last: int) -> str:
    """The file's lines from `first` to `last`, with their numbers, and its version."""
    lines = file.content.splitlines()
    shown = [f"{number}\t{line}" for number, line in enumerate(lines, 1) if first <= number <= last]
    head = f"{ROOT}/{file.path}, version {file.etag}, {len(lines)} lines:"
    return "\n".join([head, *shown])


def _first_line(content: str) -> str:
    line = next((line.strip() for line in content.splitlines() if line.strip()), "")
    return line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]}..."
