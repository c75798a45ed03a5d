"""User ids of this host for workspaces, one each, so that the kernel keeps them apart.

folder/uids/<uid>   is given out; the workspace that has it is the one it owns

They lie, in blocks, above the conventional ranges of user databases, subordinate ids and containers. A folder begins
with a block of its own and continues with others when it is full: only the disk limits the number of workspaces.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from sandbox_manager.domain.errors import StartFailedError

_ALL = range(2_000_400_000, 2_147_300_000)
_FORMER = range(200_000, 5_200_000)
"""Ids of earlier versions, also used if the others can't be: in a user namespace with few ids."""
_BLOCK = 16_384
_STEP = 4_441
_TRIES = 32
_FRESH_S = 3600.0


def is_sandbox_uid(uid: int) -> bool:
    """Whether workspaces may have it."""
    return uid in _ALL or uid in _FORMER


class Uids:
    """Gives uids out over all managers of the folder. Blocking."""

    def __init__(self, folder: Path) -> None:
        self._given = folder / "uids"
        self._seed = zlib.crc32(str(folder).encode())

    def give(self) -> int:
        """Give out an unused uid. Raises `StartFailedError`."""
        taken = _ids_in_use()
        for block in self._blocks():
            if any(block.start < other.stop and other.start < block.stop for other in taken):
                continue
            for _ in range(_TRIES):
                uid = block.start + secrets.randbelow(len(block))
                with contextlib.suppress(FileExistsError):
                    self._note(uid)
                    return uid
        raise StartFailedError("No user id is left for another workspace; delete sessions.", retryable=False)

    def keep(self, uid: int) -> bool:
        """Whether a workspace may have the uid; it is then given to nobody else."""
        if not is_sandbox_uid(uid):
            return False
        with contextlib.suppress(FileExistsError):
            self._note(uid)
        return True

    def free(self, uid: int) -> None:
        (self._given / str(uid)).unlink(missing_ok=True)

    def free_unused(self, used: set[int]) -> None:
        """Free the uids that no workspace has, except those that may be on their way to one."""
        before = time.time() - _FRESH_S
        with os.scandir(self._given) as given:
            unused = [one for one in given if one.name.isdigit() and int(one.name) not in used]
        for one in unused:
            with contextlib.suppress(FileNotFoundError):
                if one.stat(follow_symlinks=False).st_mtime < before:
                    self.free(int(one.name))

    def _note(self, uid: int) -> None:
        os.close(os.open(self._given / str(uid), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))

    def _blocks(self) -> Iterator[range]:
        area = _ALL if _is_mapped(_ALL) else _FORMER
        count = len(area) // _BLOCK
        for number in range(count):
            start = area.start + (self._seed + number * _STEP) % count * _BLOCK
            yield range(start, start + _BLOCK)


def _ids_in_use() -> list[range]:
    """The ids of this host's users, and their subordinate ids."""
    taken: list[range] = []
    for name in ("/etc/subuid", "/etc/subgid"):
        taken += [range(one[1], one[1] + one[2]) for one in _numbers(name, (1, 2))]
    for name in ("/etc/passwd", "/etc/group"):
        taken += [range(one[2], one[2] + 1) for one in _numbers(name, (2,))]
    return taken


def _numbers(file: str, fields: tuple[int, ...]) -> Iterator[dict[int, int]]:
    with contextlib.suppress(OSError):
        for line in Path(file).read_text(errors="replace").splitlines():
            parts = line.split(":")
            with contextlib.suppress(ValueError, IndexError):
                yield {field: int(parts[field]) for field in fields}


def _is_mapped(wanted: range) -> bool:
    """Whether the user namespace we are in knows these ids."""
    try:
        lines = [[int(one) for one in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except (OSError, ValueError):
        return False
    return any(first <= wanted.start and wanted.stop <= first + count for first, _, count in lines)
