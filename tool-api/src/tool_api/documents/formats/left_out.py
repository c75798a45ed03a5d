"""What stands below a text about that which is not in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator


def told(left_out: Counter[str]) -> Iterator[str]:
    """One line with how many of each there are, or none."""
    counted = [f"{count} {kind if count == 1 else _plural(kind)}" for kind, count in left_out.items() if count]
    if counted:
        yield f"[not read: {', '.join(counted)}]"


def _plural(kind: str) -> str:
    """Of its first noun, where more words follow that say of what it is."""
    noun, of, rest = kind.partition(" of ")
    return f"{noun}{'es' if noun.endswith(('x', 's', 'ch')) else 's'}{of}{rest}"
