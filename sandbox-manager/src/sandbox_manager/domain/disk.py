"""The disk limit of a workspace, and the notices to its user."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

_MIB = 1024 * 1024
_FILLING = 80
_SLACK = 10


class Fill(IntEnum):
    """Fill level of a workspace, as last reported."""

    FINE = 0
    FILLING = 1
    FULL = 2


@dataclass(frozen=True, slots=True)
class DiskLimit:
    """Limit of one workspace, in bytes and in files and folders; 0 means none."""

    limit_bytes: int = 0
    limit_files: int = 0

    def fill(self, used_bytes: int, before: Fill, used_files: int = 0) -> Fill:
        """The new fill level. It falls only once there is some room again, so that the notice is not repeated all the
        time."""
        percent = max(self._percent_of_bytes(used_bytes), self._percent_of_files(used_files))
        now, calmed = _fill_at(percent), _fill_at(percent + _SLACK)
        return now if now > before else min(before, calmed)

    @property
    def limit_mb(self) -> int:
        """The limit as its users see it."""
        return self.limit_bytes // _MIB

    def is_by_files(self, used_bytes: int, used_files: int) -> bool:
        """Whether the number of files is nearer to its limit than their size."""
        return self._percent_of_files(used_files) > self._percent_of_bytes(used_bytes)

    def notice(self, fill: Fill, *, is_by_files: bool = False) -> str | None:
        """The notice to the user at this level."""
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
