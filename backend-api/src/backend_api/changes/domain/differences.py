"""Unified differences of one file, joined: from before the first to after the last.

An edit is kept as the lines of the file, most of which are unknown: the hunks of a difference tell only a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal

MAX_LINES = 20_000
"""The most lines of a file that joined differences may tell; with more they stay apart."""
MAX_COMPARISONS = 20_000_000
"""The most comparisons of lines with each other, at their worst, for the differences that are shown together."""
_CONTEXT = 3
_ENDLESS = 1 << 60
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")

Mark = Literal["=", "+", "-"]


class UnjoinableError(Exception):
    """The difference is cut, malformed, or not of the file as it was after the others."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file before (`-`), after (`+`) or both (`=`); or several of both, of which no text is known."""

    mark: Mark
    text: str | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Hunk:
    """Some lines of a difference, which begins after `skipped` lines of the old file."""

    skipped: int
    lines: Sequence[tuple[str, str]]


@dataclass(slots=True)
class Comparisons:
    """The comparisons that are left to be made."""

    left: int = MAX_COMPARISONS


@dataclass(slots=True)
class Edit:
    """Differences joined so far. If the file `is_whole`, as it was written, all its lines are known."""

    lines: list[Line] = field(default_factory=lambda: [Line("=", None, _ENDLESS)])
    is_whole: bool = False

    @classmethod
    def whole(cls, text: str) -> Edit:
        """The file was written: all its lines are new."""
        return cls([Line("+", line) for line in text.splitlines()], is_whole=True)

    def append(self, text: str) -> None:
        """Add lines to the end of a file all of whose lines are known."""
        self.lines += Edit.whole(text).lines

    def join(self, diff: str) -> None:
        """Join the next difference. Raises `UnjoinableError`, after which nothing has changed."""
        lines = _joined(self.lines, hunks_of(diff))
        if len(lines) > MAX_LINES:
            raise UnjoinableError
        self.lines = lines

    def diff(self, comparisons: Comparisons | None = None) -> str:
        """The difference from before to now; empty if there is none. With no comparisons left, lines that went and came
        again are in it as both."""
        return "\n".join(_rendered(_reduced(self.lines, comparisons or Comparisons())))


def hunks_of(diff: str) -> list[Hunk]:
    """The hunks of a unified difference. Raises `UnjoinableError`."""
    hunks: list[Hunk] = []
    lines: list[tuple[str, str]] = []
    old = new = 0
    for line in diff.splitlines():
        if old == new == 0:
            if (header := _HUNK.match(line)) is not None:
                start, old, new = int(header[1]), _count(header[2]), _count(header[4])
                lines = []
                hunks.append(Hunk(skipped=start - 1 if old else start, lines=lines))
            elif hunks and not line.startswith("\\"):
                raise UnjoinableError
            continue
        mark, text = line[:1] or " ", line[1:]
        if mark == "\\":
            continue
        if mark not in " +-":
            raise UnjoinableError
        old -= mark != "+"
        new -= mark != "-"
        if old < 0 or new < 0:
            raise UnjoinableError
        lines.append((mark, text))
    if not hunks or old or new or any(hunk.skipped < 0 for hunk in hunks):
        raise UnjoinableError
    return hunks


def _count(given: str | None) -> int:
    return 1 if given is None else int(given)


def _joined(lines: Sequence[Line], hunks: Sequence[Hunk]) -> list[Line]:
    """The lines after these hunks, in one walk."""
    joined: list[Line] = []
    rest = list(reversed(lines))
    at = 0
    for hunk in hunks:
        at = _skip(joined, rest, at, hunk.skipped)
        for mark, text in hunk.lines:
            if mark == "+":
                joined.append(Line("+", text))
                continue
            while rest and rest[-1].mark == "-":
                joined.append(rest.pop())
            line = _next(rest, text)
            if mark == " ":
                joined.append(Line(line.mark, text))
            elif line.mark == "=":
                joined.append(Line("-", text))
            at += 1
    joined.extend(reversed(rest))
    return joined


def _skip(joined: list[Line], rest: list[Line], at: int, until: int) -> int:
    """Take lines over up to that number of the present file."""
    if until < at:
        raise UnjoinableError
    while at < until:
        if not rest:
            raise UnjoinableError
        line = rest.pop()
        if line.mark != "-" and line.count > until - at:
            rest.append(Line("=", None, line.count - (until - at)))
            line = Line("=", None, until - at)
        joined.append(line)
        at += line.count if line.mark != "-" else 0
    return at


def _next(rest: list[Line], text: str) -> Line:
    """Take the next line, which has this text as far as is known."""
    if not rest:
        raise UnjoinableError
    line = rest.pop()
    if line.text is not None and line.text != text:
        raise UnjoinableError
    if line.count > 1:
        rest.append(Line("=", None, line.count - 1))
    return line


def _reduced(lines: Iterable[Line], comparisons: Comparisons) -> list[Line]:
    """The lines without those that went and came again, as far as lines beside each other are known."""
    reduced: list[Line] = []
    known: list[Line] = []
    for line in lines:
        if line.text is None:
            reduced.extend(_compared(known, comparisons))
            known.clear()
            reduced.append(line)
        else:
            known.append(line)
    reduced.extend(_compared(known, comparisons))
    return reduced


def _compared(known: Sequence[Line], comparisons: Comparisons) -> Iterator[Line]:
    old = [line.text or "" for line in known if line.mark != "+"]
    new = [line.text or "" for line in known if line.mark != "-"]
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    end = next((at for at in range(most - start) if old[-1 - at] != new[-1 - at]), most - start)
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    cost = len(before) * len(after) * min(len(before), len(after))
    if cost > comparisons.left:
        yield from known
        return
    comparisons.left -= cost
    yield from _marked("=", old[:start])
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            yield from _marked("=", before[a:b])
        else:
            yield from _marked("-", before[a:b])
            yield from _marked("+", after[c:d])
    yield from _marked("=", old[len(old) - end :])


def _marked(mark: Mark, texts: Iterable[str]) -> Iterator[Line]:
    return (Line(mark, text) for text in texts)


def _rendered(lines: Sequence[Line]) -> list[str]:
    near = _near_changes(lines)
    rendered: list[str] = []
    hunk: list[Line] = []
    old = new = 0

    def close() -> None:
        if not hunk:
            return
        removed = sum(line.mark != "+" for line in hunk)
        added = sum(line.mark != "-" for line in hunk)
        first_old, first_new = old - removed + (removed > 0), new - added + (added > 0)
        rendered.append(f"@@ -{first_old},{removed} +{first_new},{added} @@")
        rendered.extend(f"{' ' if line.mark == '=' else line.mark}{line.text}" for line in hunk)
        hunk.clear()

    for index, line in enumerate(lines):
        if index in near:
            hunk.append(line)
        else:
            close()
        old += line.count * (line.mark != "+")
        new += line.count * (line.mark != "-")
    close()
    return rendered


def _near_changes(lines: Sequence[Line]) -> set[int]:
    """The changed lines, and those around them as far as they are known."""
    near: set[int] = set()
    for index, line in enumerate(lines):
        if line.mark == "=":
            continue
        near.add(index)
        for step in (-1, 1):
            at = index + step
            while abs(at - index) <= _CONTEXT and 0 <= at < len(lines) and lines[at].text is not None:
                near.add(at)
                at += step
    return near
