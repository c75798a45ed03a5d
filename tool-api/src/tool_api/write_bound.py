"""What a command may write into the workspace."""

from __future__ import annotations

from dataclasses import dataclass

FULL = "The workspace is full. Delete files first, then try again."


@dataclass(frozen=True, slots=True)
class WriteBound:
    """What a command that begins now may write: no file of more bytes than these (None: of any), and nothing at all
    where it is zero, as the workspace is full."""

    file_bytes: int | None = None

    @property
    def is_full(self) -> bool:
        return self.file_bytes == 0


async def unbound() -> WriteBound:
    """Where nothing is counted."""
    return WriteBound()
