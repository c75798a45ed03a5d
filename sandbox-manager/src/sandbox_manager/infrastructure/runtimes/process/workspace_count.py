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

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.process.bounded_looks import BoundedLooks
from sandbox_manager.infrastructure.runtimes.process.freezer import Freezer
from sandbox_manager.infrastructure.runtimes.process.hidden_files import STARVED, ProbeError, hidden_files, hides
from sandbox_manager.infrastructure.runtimes.process.memory import Member, all_processes, trees
from sandbox_manager.infrastructure.runtimes.process.moments import Moment, started_after, this_moment
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef
from service_kit import tree_size as program
from service_kit.open_files import descriptor_folders, unlinked_files
from service_kit.tree_size import TreeSize

_log = logging.getLogger(__name__)

_LINE_BYTES = 4096
_END_S = 2.0
_LISTED_S = 0.1
_HELD_CPU_S = 0.25
_HELD_TIMEOUT_S = 1.0
_STOP_S = 0.5
_MOST_TIMEOUT_S = 15.0
"""With what a process maps; a program that counts a large tree is waited for longer."""
_LOOKS = BoundedLooks()
_NOTHING = TreeSize(0, 0)


@dataclass(frozen=True, slots=True)
class Watched:
    """One running sandbox: whose workspace it has, its outermost process, and what holds it still for a look; without
    that, files its processes hand on meanwhile are not seen."""

    session_id: str
    workspace: Path
    root: ProcessRef
    freezer: Freezer | None = None


@dataclass(frozen=True, slots=True)
class CountBounds:
    """Of the count of one workspace, in seconds: processor time for its tree and for what it holds open, and how long
    the program that counts may say nothing."""

    tree_cpu_s: float
    deleted_cpu_s: float
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Counted:
    """How much it is, unless the machine was too slow to tell, how many seconds it took, how much of it was deleted,
    and what of ours kept it from being counted to its end."""

    size: TreeSize | None
    took_s: float
    deleted_bytes: int = 0
    fault: str | None = None


def count_workspaces(
    watched: Sequence[Watched], device: int, bounds: CountBounds, *, may_unshare: bool
) -> Generator[Counted]:
    """One after the other, each within the bounds."""
    listing = _Listing([one.root for one in watched])
    sizes = _sizes([one.workspace for one in watched], bounds, may_unshare=may_unshare)
    for one, (size, took_s, fault) in zip(watched, sizes, strict=True):
        began = time.monotonic()
        try:
            deleted, deleted_fault = _deleted_size(one, listing, device, bounds)
        except Exception:  # noqa: BLE001 - one of many; the others are counted
            _log.exception("what a sandbox holds open could not be counted", extra={"session_id": one.session_id})
            size, deleted, deleted_fault = None, _NOTHING, None
        took_s += time.monotonic() - began
        yield Counted(None if size is None else _sum(size, deleted), took_s, deleted.bytes, fault or deleted_fault)


class _Listing:
    """The processes of all sandboxes, listed anew where the last list is no longer fresh."""

    def __init__(self, roots: list[ProcessRef]) -> None:
        self._roots = roots
        self._listed_at = float("-inf")
        self._members: dict[ProcessRef, list[Member]] = {}
        self._moment = this_moment()

    def of(self, root: ProcessRef) -> tuple[list[Member], Moment]:
        """Those of one, and from when the list is."""
        if time.monotonic() - self._listed_at > _LISTED_S:
            self._moment = this_moment()
            self._members = trees(all_processes(), self._roots)
            self._listed_at = time.monotonic()
        return self._members[root], self._moment


@dataclass(frozen=True, slots=True)
class _Deleted:
    """Bytes of deleted files by inode, whether these are all, and what of ours kept them from being asked for."""

    sizes: dict[int, int]
    complete: bool
    fault: str | None = None


def _deleted_size(one: Watched, listing: _Listing, device: int, bounds: CountBounds) -> tuple[TreeSize, str | None]:
    """Where somebody was started meanwhile, the sandbox is held still and all that are new in it looked at too: a file
    may be handed on from process to process, each of which ends before it is looked at."""
    members, moment = listing.of(one.root)
    timeout_s = min(bounds.timeout_s, _MOST_TIMEOUT_S)
    first = _deleted(one.root, members, device, bounds.deleted_cpu_s, timeout_s)
    if one.freezer is None or moment.is_latest:
        return TreeSize(sum(first.sizes.values()), len(first.sizes), first.complete), first.fault
    try:
        with one.freezer.held(_STOP_S) as is_held:
            now = trees(all_processes(), [one.root])[one.root]
            new = [member for member in now if started_after(moment, member)]
            cpu_s = min(bounds.deleted_cpu_s, _HELD_CPU_S)
            more = _deleted(one.root, new, device, cpu_s, _HELD_TIMEOUT_S, starved=1)
    except (OSError, EngineUnavailableError):
        # It may have ended meanwhile; one that goes on is counted again.
        more, is_held = _Deleted({}, not one.root.is_alive), True
    sizes = first.sizes | more.sizes
    complete = first.complete and more.complete and is_held
    return TreeSize(sum(sizes.values()), len(sizes), complete), first.fault or more.fault


def _deleted(
    root: ProcessRef,
    members: Sequence[Member],
    device: int,
    deadline_s: float,
    timeout_s: float,
    *,
    starved: int = STARVED,
) -> _Deleted:
    """Also of those that only processes hold which let us not look into them."""
    pids = [member.process.pid for member in members]

    def look() -> tuple[dict[int, int], bool, list[int]]:
        sizes, complete = unlinked_files(pids, device, deadline_s=deadline_s, clock=time.thread_time)
        return sizes, complete, [pid for pid in pids if any(map(hides, descriptor_folders(pid)))]

    seen = _LOOKS.look(root, look, timeout_s)
    if seen is None:
        return _Deleted({}, complete=False)
    sizes, complete, hiding = seen
    try:
        found, unanswered = hidden_files(hiding, timeout_s, starved=starved)
    except ProbeError as error:
        return _Deleted(sizes, complete=False, fault=str(error))
    return _Deleted(
        sizes | {one.inode: one.bytes for one in found if one.device == device}, complete and not unanswered
    )


def _sum(one: TreeSize, other: TreeSize) -> TreeSize:
    return TreeSize(one.bytes + other.bytes, one.files + other.files, one.complete and other.complete)


def _sizes(
    folders: list[Path], bounds: CountBounds, *, may_unshare: bool
) -> Generator[tuple[TreeSize | None, float, str | None]]:
    """By a program of its own: a million files would hold up the manager. None for one it got stuck in, or failed at by
    a fault of ours, which is told: it is started anew for those after that."""
    # As root of a namespace one's own folders are open, whatever their modes say.
    rights = ["unshare", "--user", "--map-root-user"] if may_unshare and os.geteuid() != 0 else []
    arguments = [program.__file__, "0", str(bounds.tree_cpu_s)]
    command = [*rights, "nice", "-n", "10", sys.executable, "-I", "-S", *arguments]
    counted = 0
    while counted < len(folders):
        fault = None
        try:
            for size, took_s in read_counts(command, folders[counted:], bounds.timeout_s):
                counted += 1
                yield size, took_s, None
        except ProbeError as error:
            fault = str(error)
        if counted < len(folders):
            counted += 1
            yield None, bounds.timeout_s, fault


def read_counts(command: list[str], folders: list[Path], timeout_s: float) -> Generator[tuple[TreeSize, float]]:
    """The size of each folder and the seconds its count took, from a program that writes a line for each; ends early at
    a folder that takes longer than `timeout_s`.

    Raises:
        ProbeError: it could not be started, or ended before it answered.
    """
    try:
        counter = Popen(command, bufsize=0, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    except OSError as error:
        raise ProbeError(f"The workspace counter could not be started: {error.strerror}.") from error
    assert counter.stdin is not None
    assert counter.stdout is not None
    with counter.stdin, counter.stdout:
        try:
            for folder in folders:
                began = time.monotonic()
                counter.stdin.write(os.fsencode(folder) + b"\n")
                # A line is written at once, so what can be read holds all of it.
                if not select.select([counter.stdout], [], [], timeout_s)[0]:
                    break
                if not (read := counter.stdout.read(_LINE_BYTES)):
                    raise ProbeError("The workspace counter ended before it answered.")
                line = read.split()
                if len(line) != 3:
                    break
                yield TreeSize(int(line[0]), int(line[1]), line[2] == b"1"), time.monotonic() - began
        except OSError as error:
            raise ProbeError("The workspace counter ended before it was asked.") from error
        except ValueError:
            return
        finally:
            counter.kill()
            # One that is stuck in the kernel ends when that lets go of it, and is collected by a later start.
            with contextlib.suppress(TimeoutExpired):
                counter.wait(_END_S)
