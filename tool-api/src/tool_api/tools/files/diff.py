"""The diff of an edit, for people and the model: bounded in size, and in the time it takes over any file."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

MAX_DIFF_CHARACTERS = 100_000
_LEFT_OUT = "[... the rest of the diff is left out ...]"
_CONTEXT = 3
_MOST_COMPARISONS = 50_000
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def unified_diff(path: str, before: str, after: str) -> str:
    """The lines that changed. If many lines are alike, lines kept between changes are not searched for: that would take
    time with the square of their number, or more."""
    old, new = before.splitlines(), after.splitlines()
    start, end = _shared(old, new)
    start, end = max(start - _CONTEXT, 0), max(end - _CONTEXT, 0)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if _comparisons(old, new) > _MOST_COMPARISONS:
        hunks = chain([f"@@ -{start + 1},{len(old)} +{start + 1},{len(new)} @@"], _marked("-", old), _marked("+", new))
        return _bounded(chain([f"--- a/{path}", f"+++ b/{path}"], hunks))
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="", n=_CONTEXT)
    return _bounded(
        _HUNK.sub(lambda found: _moved(found, start), line) if line.startswith("@@") else line for line in lines
    )


def whole_diff(path: str, before: str, after: str) -> str | None:
    """The lines that changed, or None if they are too many to be told whole."""
    diff = unified_diff(path, before, after)
    return None if diff.endswith(f"\n{_LEFT_OUT}") else diff


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """The number of equal lines at the start, and at the end of the rest."""
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    end = next((at for at in range(most - start) if old[-1 - at] != new[-1 - at]), most - start)
    return start, end


def _comparisons(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of line pairs that `difflib` would compare; it leaves out frequent lines."""
    counts = Counter(new)
    frequent = len(new) // 100 + 1 if len(new) >= 200 else len(new)
    return len(old) + len(new) + sum(counts[line] for line in old if counts[line] <= frequent)


def _marked(sign: str, lines: Iterable[str]) -> Iterator[str]:
    return (sign + line for line in lines)


def _moved(found: re.Match[str], by: int) -> str:
    return f"@@ -{int(found[1]) + by}{found[2] or ''} +{int(found[3]) + by}{found[4] or ''} @@"


def _bounded(lines: Iterable[str]) -> str:
    text: list[str] = []
    room = MAX_DIFF_CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            text.append(_LEFT_OUT)
            break
        text.append(line)
    return "\n".join(text)
