"""What workspaces hold, counted from outside: what answers inside a sandbox may be anybody's and say anything.

The tool API holds the limit to the byte, as far as it can; here a sandbox that goes on filling a workspace well beyond
its limit ends. One that only stays there does not: its user has to be able to delete.
"""

from __future__ import annotations

import logging
import os
import select
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from contracts import tree_size as program
from contracts.open_files import unlinked_size
from contracts.tree_size import TreeSize
from sandbox_manager.infrastructure.runtimes.process.memory import all_processes, trees
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

_log = logging.getLogger(__name__)

TICK_S = 1.0
_LOOK_S = 20.0
_HURRIED_S = 2.0
_GULP = 50
_SLACK = 10
_SLACK_BYTES = 16 * 1024 * 1024
_SLACK_FILES = 1000
_GROWTH = 100
_DEADLINE_S = 10.0
_SPARE_S = 5.0
_DELETED_S = 2.0
_LINE_BYTES = 4096
_OVER = "Its files took up more than they may, and went on growing."


@dataclass(frozen=True, slots=True)
class Watched:
    """One running sandbox: whose workspace it has, and its outermost process."""

    session_id: str
    workspace: Path
    root: ProcessRef


@dataclass(slots=True)
class WorkspaceWatch:
    """`running` names the sandboxes, `end` ends one and tells why. A limit of zero is none.
    With `look_s` zero every call looks."""

    folder: Path
    limit_bytes: int
    limit_files: int
    isolated: bool
    running: Callable[[], Mapping[str, Watched]]
    end: Callable[[str, str], None]
    look_s: float = _LOOK_S
    _over: dict[str, TreeSize] = field(default_factory=dict[str, TreeSize])
    _free_at_look: tuple[int, int] = (0, 0)
    _looked_at: float = float("-inf")
    _cost_s: float = 0.0

    def __call__(self) -> None:
        """Look, if it is time to."""
        if not (self.limit_bytes or self.limit_files) or not self._is_time():
            return
        began = time.monotonic()
        self._free_at_look = self._free()
        running = self.running()
        found = self._counted(running)
        self._over = {one: size for one, size in self._over.items() if one in {w.session_id for w in running.values()}}
        for sandbox_id, size in found.items():
            self._hold(sandbox_id, running[sandbox_id].session_id, size)
        self._looked_at = time.monotonic()
        self._cost_s = self._looked_at - began

    def _is_time(self) -> bool:
        if self.look_s <= 0:
            return True
        since = time.monotonic() - self._looked_at
        if since < max(_HURRIED_S, self._cost_s):
            return False
        limits = (self.limit_bytes, self.limit_files)
        gulped = any(
            limit and before - now > limit / _GULP
            for limit, before, now in zip(limits, self._free_at_look, self._free(), strict=True)
        )
        return gulped or since >= max(self.look_s, self._cost_s * _GULP)

    def _free(self) -> tuple[int, int]:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize, found.f_favail

    def _counted(self, running: Mapping[str, Watched]) -> dict[str, TreeSize]:
        if not running:
            return {}
        processes = all_processes()
        members = trees(processes, [one.root for one in running.values()])
        named = _sizes([one.workspace for one in running.values()], may_unshare=self.isolated)
        device = self.folder.stat().st_dev
        found: dict[str, TreeSize] = {}
        for (sandbox_id, one), size in zip(running.items(), named, strict=True):
            if size is None:
                _log.warning("a workspace could not be counted", extra={"sandbox_id": sandbox_id})
                continue
            pids = [member.process.pid for member in members[one.root]]
            deleted = unlinked_size(pids, device, deadline_s=_DELETED_S)
            found[sandbox_id] = TreeSize(size.bytes + deleted.bytes, size.files + deleted.files)
        return found

    @property
    def _most_bytes(self) -> int:
        return self.limit_bytes + self.limit_bytes // _SLACK + _SLACK_BYTES

    @property
    def _most_files(self) -> int:
        return self.limit_files + self.limit_files // _SLACK + _SLACK_FILES

    def _hold(self, sandbox_id: str, session_id: str, size: TreeSize) -> None:
        is_over = (self.limit_bytes and size.bytes > self._most_bytes) or (
            self.limit_files and size.files > self._most_files
        )
        if not is_over:
            self._over.pop(session_id, None)
            return
        before = self._over.get(session_id)
        if before is None:
            self._over[session_id] = size
        elif self._grew(before, size):
            fields = {"sandbox_id": sandbox_id, "bytes": size.bytes, "files": size.files}
            _log.warning("ended a sandbox that went on filling its workspace", extra=fields)
            self._over[session_id] = size
            self.end(sandbox_id, _OVER)
        else:
            self._over[session_id] = TreeSize(min(before.bytes, size.bytes), min(before.files, size.files))

    def _grew(self, before: TreeSize, now: TreeSize) -> bool:
        more_bytes = now.bytes - before.bytes > self.limit_bytes // _GROWTH if self.limit_bytes else False
        more_files = now.files - before.files > self.limit_files // _GROWTH if self.limit_files else False
        return more_bytes or more_files


def _sizes(folders: list[Path], *, may_unshare: bool) -> list[TreeSize | None]:
    """By a program of its own: a million files would hold up the manager. None for one it got stuck in: it is started
    anew for those after that."""
    # As root of a namespace one's own folders are open, whatever their modes say.
    rights = ["unshare", "--user", "--map-root-user"] if may_unshare and os.geteuid() != 0 else []
    arguments = [program.__file__, "0", str(_DEADLINE_S)]
    command = [*rights, "nice", "-n", "10", sys.executable, "-I", "-S", *arguments]
    found: list[TreeSize | None] = []
    while len(found) < len(folders):
        found += told(command, folders[len(found) :], _DEADLINE_S + _SPARE_S)
        if len(found) < len(folders):
            found.append(None)
    return found


def told(command: list[str], folders: list[Path], patience_s: float) -> list[TreeSize]:
    """What a program that answers a line for each folder says of them, until one takes it longer than `patience_s`."""
    found: list[TreeSize] = []
    try:
        counter = Popen(command, bufsize=0, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    except OSError:
        return found
    with counter:
        assert counter.stdin is not None
        assert counter.stdout is not None
        try:
            for folder in folders:
                counter.stdin.write(os.fsencode(folder) + b"\n")
                # A line is written at once, so what can be read holds all of it.
                if not select.select([counter.stdout], [], [], patience_s)[0]:
                    break
                line = counter.stdout.read(_LINE_BYTES).split()
                if len(line) != 3:
                    break
                found.append(TreeSize(int(line[0]), int(line[1]), line[2] == b"1"))
        except (OSError, ValueError):
            return found
        finally:
            counter.kill()
    return found
