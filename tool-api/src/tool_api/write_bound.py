"""The limit of a command's writes into the workspace."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from service_kit.amounts import size_text

FULL = "The workspace is full. Delete files first, then try again."


@dataclass(frozen=True, slots=True)
class WriteBound:
    """The write limit of a command that begins now: no file larger than `file_bytes` (None: of any size), and no
    writing at all if it is zero, as the workspace is full."""

    file_bytes: int | None = None

    @property
    def is_full(self) -> bool:
        return self.file_bytes == 0


_ENDED = (-signal.SIGXFSZ, 128 + signal.SIGXFSZ)
"""Exit codes of programs ended for writing too large a file."""
_SAID = "File too large"
"""Error text of programs that the signal does not end, such as Python."""

_FULL_AT_ITS_BEGINNING = (
    "The workspace was full when it began, so it could write to no file. What it deleted is deleted: write in a "
    "command of its own"
)


def too_large(file_bytes: int | None, exit_code: int | None, output: str) -> str | None:
    """The reason for a failure under such a limit, if the limit is the reason."""
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
    """No limit, for when nothing is counted."""
    return WriteBound()
