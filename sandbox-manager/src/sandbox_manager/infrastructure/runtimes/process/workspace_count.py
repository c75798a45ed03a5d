"""How much workspaces hold now: what lies in them, and what was deleted of them but is still held open."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import sys
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

from contracts import tree_size as program
from contracts.open_files import descriptor_folders, unlinked_size
from contracts.tree_size import TreeSize
from sandbox_manager.infrastructure.runtimes.process.hidden_files import hidden_files, hides
from sandbox_manager.infrastructure.runtimes.process.memory import all_processes, trees
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

_log = logging.getLogger(__name__)

_LINE_BYTES = 4096
_END_S = 2.0
_NOTHING = TreeSize(0, 0)


@dataclass(frozen=True, slots=True)
class Watched:
    """One running sandbox: whose workspace it has, and its outermost process."""

    session_id: str
    workspace: Path
    root: ProcessRef


@dataclass(frozen=True, slots=True)
class CountBounds:
    """Of the count of one workspace, in seconds: processor time for its tree and for what it holds open, and how long
    the program that counts may say nothing."""

    tree_cpu_s: float
    deleted_cpu_s: float
    patience_s: float


@dataclass(frozen=True, slots=True)
class Counted:
    """How much it is, unless the machine was too slow to tell, and how many seconds it took."""

    size: TreeSize | None
    took_s: float


def count_workspaces(
    watched: Sequence[Watched], device: int, bounds: CountBounds, *, may_unshare: bool
) -> Generator[Counted]:
    """One after the other, each within the bounds."""
    members = trees(all_processes(), [one.root for one in watched])
    sizes = _sizes([one.workspace for one in watched], bounds, may_unshare=may_unshare)
    for one, (size, took_s) in zip(watched, sizes, strict=True):
        began = time.thread_time()
        pids = [member.process.pid for member in members[one.root]]
        try:
            deleted = unlinked_size(pids, device, deadline_s=bounds.deleted_cpu_s, clock=time.thread_time)
            deleted = _sum(deleted, _hidden_size(pids, device, bounds.patience_s))
        except Exception:  # noqa: BLE001 - one of many; the others are counted
            _log.exception("what a sandbox holds open could not be counted", extra={"session_id": one.session_id})
            size, deleted = None, _NOTHING
        took_s += time.thread_time() - began
        yield Counted(None if size is None else _sum(size, deleted), took_s)


def _hidden_size(pids: Sequence[int], device: int, patience_s: float) -> TreeSize:
    """Of deleted files that only processes hold which let us not look into them."""
    found, untold = hidden_files([pid for pid in pids if any(map(hides, descriptor_folders(pid)))], patience_s)
    sizes = {one.inode: one.bytes for one in found if one.device == device}
    return TreeSize(sum(sizes.values()), len(sizes), not untold)


def _sum(one: TreeSize, other: TreeSize) -> TreeSize:
    return TreeSize(one.bytes + other.bytes, one.files + other.files, one.complete and other.complete)


def _sizes(folders: list[Path], bounds: CountBounds, *, may_unshare: bool) -> Generator[tuple[TreeSize | None, float]]:
    """By a program of its own: a million files would hold up the manager. None for one it got stuck in: it is started
    anew for those after that."""
    # As root of a namespace one's own folders are open, whatever their modes say.
    rights = ["unshare", "--user", "--map-root-user"] if may_unshare and os.geteuid() != 0 else []
    arguments = [program.__file__, "0", str(bounds.tree_cpu_s)]
    command = [*rights, "nice", "-n", "10", sys.executable, "-I", "-S", *arguments]
    counted = 0
    while counted < len(folders):
        for size in told(command, folders[counted:], bounds.patience_s):
            counted += 1
            yield size
        if counted < len(folders):
            counted += 1
            yield None, bounds.patience_s


def told(command: list[str], folders: list[Path], patience_s: float) -> Generator[tuple[TreeSize, float]]:
    """What a program that answers a line for each folder says of them, and after how many seconds, until one takes it
    longer than `patience_s`."""
    try:
        counter = Popen(command, bufsize=0, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    except OSError:
        return
    assert counter.stdin is not None
    assert counter.stdout is not None
    with counter.stdin, counter.stdout:
        try:
            for folder in folders:
                began = time.monotonic()
                counter.stdin.write(os.fsencode(folder) + b"\n")
                # A line is written at once, so what can be read holds all of it.
                if not select.select([counter.stdout], [], [], patience_s)[0]:
                    break
                line = counter.stdout.read(_LINE_BYTES).split()
                if len(line) != 3:
                    break
                yield TreeSize(int(line[0]), int(line[1]), line[2] == b"1"), time.monotonic() - began
        except (OSError, ValueError):
            return
        finally:
            counter.kill()
            # One that is stuck in the kernel ends when that lets go of it, and is collected by a later start.
            with contextlib.suppress(TimeoutExpired):
                counter.wait(_END_S)
