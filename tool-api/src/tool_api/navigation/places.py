"""Questions about source code, and their answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

MAX_NAME_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 4000
MAX_PLACES = 300
"""Places that one answer holds; the number of further ones is reported."""
MAX_FILE_BYTES = 1024 * 1024
"""A larger file is not read: hardly anybody wrote it."""


class Wanted(StrEnum):
    """The kinds of questions: all definitions, those whose name holds a text, those of a name with their source, or the
    uses of a name."""

    SYMBOLS = "symbols"
    MATCHING = "matching"
    DEFINITIONS = "definitions"
    REFERENCES = "references"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about a folder or a file: `target` is `.` or `./name` in the folder the program runs in.

    `name` is the text or name; with `container` only members of one of that name count. `ignores` are the `.gitignore`
    of the folders above with the relative path from there. Files of `skipped` are not searched.
    """

    wanted: Wanted
    target: str
    name: str = ""
    container: str = ""
    ignores: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    skipped: list[str] = field(default_factory=list[str])
    within_s: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A definition or a use. Lines count from 1; `container` is what encloses it, as `Server.start`. `text` is its
    first lines, each whole."""

    path: str
    line: int
    end_line: int
    kind: str
    name: str
    container: str = ""
    text: str = ""


@dataclass(slots=True, kw_only=True)
class Looked:
    """The extent of a search. `left_out` are places beyond the bound, `large` and `hard` files that were not
    understood."""

    files: int = 0
    left_out: int = 0
    large: list[str] = field(default_factory=list[str])
    hard: list[str] = field(default_factory=list[str])
    is_whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A line of the program's output: the file it looks into next, the places found, or, at the end, the extent of the
    search."""

    at: str | None = None
    places: list[Place] | None = None
    looked: Looked | None = None
