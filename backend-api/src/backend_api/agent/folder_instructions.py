"""Instructions in `AGENTS.md` files of the workspace: those new to an agent, and those it remembers."""

from __future__ import annotations

from collections.abc import Iterable

from backend_api.agent.events import InstructionsFound
from backend_api.agent.tool import FolderInstructions

MAX_FOLDERS = 16
"""The most folders whose instructions an agent remembers; the oldest are dropped first, and can be found again."""


def new_instructions(found: Iterable[FolderInstructions], known: dict[str, str]) -> list[InstructionsFound]:
    """Instructions that `known` lacks or has in another version; they are added to it."""
    new = [InstructionsFound(path=one.path, text=one.text) for one in found if known.get(one.path) != one.text]
    for one in new:
        remember(one, known)
    return new


def remember(found: InstructionsFound, known: dict[str, str]) -> None:
    """Add a file's instructions to the known ones."""
    known.pop(found.path, None)
    known[found.path] = found.text
    while len(known) > MAX_FOLDERS:
        del known[next(iter(known))]
