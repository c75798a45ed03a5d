"""What a command may write into the workspace."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from service_kit.amounts import size_text

FULL = "The workspace is full. Delete files first, then try again."


@dataclass(frozen=True, slots=True)
class WriteBound:
    """What a command that begins now may write: no file of more bytes than these (None: of any), and nothing at all
    where it is zero, as the workspace is full."""

    file_bytes: int | None = None

    @property
    def is_full(self) -> bool:
        return self.file_bytes == 0


_ENDED = (-signal.SIGXFSZ, 128 + signal.SIGXFSZ)
"""Exit codes of what was ended for writing too large a file."""
_SAID = "File too large"
"""By programs that are not ended by the signal, such as Python."""

_FULL_AT_ITS_BEGINNING = (
    "The workspace was full when it began, so it could write to no file. What it deleted is deleted: write in a "
    "command of its own"
)


def too_large(file_bytes: int | None, exit_code: int | None, output: str) -> str | None:
    """Why what failed under such a bound did, where that is the bound."""
    if file_bytes is None or exit_code == 0:
        return None
    if file_bytes == 0:
        return _FULL_AT_ITS_BEGINNING if exit_code in _ENDED or _SAID in output else None
    may = (
        f"no file, in /tmp neither, may become larger than {size_text(file_bytes)}, for which there is room in the "
        "workspace. Delete files there first (`du -ah | sort -h | tail` finds the largest), or write less into one file"
    )
    if exit_code in _ENDED:
        return f"It was ended because it wrote too large a file: {may}."
    if _SAID in output:
        return f'As to "{_SAID}": {may}.'
    return None


async def unbound() -> WriteBound:
    """Where nothing is counted."""
    return WriteBound()
