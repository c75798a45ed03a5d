"""What `AGENTS.md` files of the workspace say: what of it is new to an agent, and what it remembers."""

from __future__ import annotations

from collections.abc import Iterable

from backend_api.agent.events import InstructionsFound
from backend_api.agent.tool import FolderInstructions

MAX_FOLDERS = 16
"""Of so many folders an agent knows the instructions; those found first are forgotten first, and found again."""


def new_instructions(found: Iterable[FolderInstructions], known: dict[str, str]) -> list[InstructionsFound]:
    """Those that `known` does not have as they are now; it has them afterwards."""
    new = [InstructionsFound(path=one.path, text=one.text) for one in found if known.get(one.path) != one.text]
    for one in new:
        remember(one, known)
    return new


def remember(found: InstructionsFound, known: dict[str, str]) -> None:
    """Add one to those that are known."""
    known.pop(found.path, None)
    known[found.path] = found.text
    while len(known) > MAX_FOLDERS:
        del known[next(iter(known))]
