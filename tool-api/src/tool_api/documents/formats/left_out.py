"""The lines below a text that list what it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator


def told(left_out: Counter[str]) -> Iterator[str]:
    """One line with the number of each kind left out, or none."""
    counted = [f"{count} {kind if count == 1 else _plural(kind)}" for kind, count in left_out.items() if count]
    if counted:
        yield f"[not read: {', '.join(counted)}]"


def _plural(kind: str) -> str:
    """The plural of the first noun, where "of" and more words follow it."""
    noun, of, rest = kind.partition(" of ")
    return f"{noun}{'es' if noun.endswith(('x', 's', 'ch')) else 's'}{of}{rest}"
