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
    """Of one workspace, in bytes and in files and folders; 0 is none."""

    limit_bytes: int = 0
    limit_files: int = 0

    def fill(self, used_bytes: int, before: Fill, used_files: int = 0) -> Fill:
        """It falls only when there is some room again, so that nobody is told the same again and again."""
        percent = max(self._percent_of_bytes(used_bytes), self._percent_of_files(used_files))
        now, calmed = _fill_at(percent), _fill_at(percent + _SLACK)
        return now if now > before else min(before, calmed)

    @property
    def limit_mb(self) -> int:
        """As its users are told."""
        return self.limit_bytes // _MIB

    def is_by_files(self, used_bytes: int, used_files: int) -> bool:
        """Whether their number is nearer to its limit than what they take up."""
        return self._percent_of_files(used_files) > self._percent_of_bytes(used_bytes)

    def notice(self, fill: Fill, *, is_by_files: bool = False) -> str | None:
        """What to tell."""
        if is_by_files:
            return self._notice_of_files(fill)
        limit = f"{self.limit_mb:,} MB"
        if fill is Fill.FULL:
            return (
                f"The files of this computer take up all of the {limit} they may. Until files are deleted nothing can "
                "be uploaded or written, and commands that go on writing are ended."
            )
        if fill is Fill.FILLING:
            return (
                f"The files of this computer take up over {_FILLING} % of the {limit} they may. "
                "At the limit, uploads and writes are refused: delete files that are not needed."
            )
        return None

    def _notice_of_files(self, fill: Fill) -> str | None:
        limit = f"{self.limit_files:,} files and folders"
        if fill is Fill.FULL:
            return (
                f"This computer holds all of the {limit} it may. Until some are deleted nothing can be uploaded or "
                "written, and commands that go on making files are ended."
            )
        if fill is Fill.FILLING:
            return (
                f"This computer holds over {_FILLING} % of the {limit} it may. "
                "At the limit, uploads and writes are refused: delete files that are not needed."
            )
        return None

    def _percent_of_bytes(self, used: int) -> int:
        return used * 100 // self.limit_bytes if self.limit_bytes else 0

    def _percent_of_files(self, used: int) -> int:
        return used * 100 // self.limit_files if self.limit_files else 0


def _fill_at(percent: int) -> Fill:
    if percent >= 100:
        return Fill.FULL
    return Fill.FILLING if percent >= _FILLING else Fill.FINE
