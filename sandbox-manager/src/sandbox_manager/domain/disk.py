"""How much a workspace may hold, and what its user is told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

_MIB = 1024 * 1024
_FILLING = 80
_SLACK = 10


class Fill(IntEnum):
    """How full a workspace is, by what was told last."""

    FINE = 0
    FILLING = 1
    FULL = 2


@dataclass(frozen=True, slots=True)
class DiskLimit:
    """Of one workspace; 0 is none."""

    limit_bytes: int = 0

    def fill(self, used_bytes: int, before: Fill) -> Fill:
        """It falls only when there is some room again, so that nobody is told the same again and again."""
        percent = used_bytes * 100 // self.limit_bytes if self.limit_bytes else 0
        now, calmed = _at(percent), _at(percent + _SLACK)
        return now if now > before else min(before, calmed)

    @property
    def limit_mb(self) -> int:
        """As its users are told."""
        return self.limit_bytes // _MIB

    def notice(self, fill: Fill) -> str | None:
        """What to tell."""
        limit = f"{self.limit_mb:,} MB"
        if fill is Fill.FULL:
            return (
                f"The files of this computer take up all of the {limit} they may. Until files are deleted nothing can "
                "be uploaded or written, and commands that go on writing are ended."
            )
        if fill is Fill.FILLING:
            return (
                f"The files of this computer take up over {_FILLING} % of the {limit} they may. "
                "At the limit nothing more is taken: delete what nobody needs."
            )
        return None


def _at(percent: int) -> Fill:
    if percent >= 100:
        return Fill.FULL
    return Fill.FILLING if percent >= _FILLING else Fill.FINE
