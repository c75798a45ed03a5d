"""What goes wrong with one sandbox of a round over all, and what a round says."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from sandbox_manager.infrastructure.runtimes.process import workspace_count
from sandbox_manager.infrastructure.runtimes.process.hidden_files import ProbeError
from sandbox_manager.infrastructure.runtimes.process.memory import all_processes, trees
from sandbox_manager.infrastructure.runtimes.process.memory_watch import MemoryWatch
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, reference
from sandbox_manager.infrastructure.runtimes.process.workspace_count import Watched, read_counts
from sandbox_manager.infrastructure.runtimes.process.workspace_watch import WorkspaceWatch

MIB = 1 << 20
CROWD = """
import os, sys, time
for _ in range(int(sys.argv[1])):
    if not os.fork():
        time.sleep(60)
print("has", flush=True)
time.sleep(60)
"""
MUTE = "import time; time.sleep(20)"


@contextmanager
def crowd(children: int) -> Generator[ProcessRef]:
    """A process with so many children."""
    with subprocess.Popen([sys.executable, "-c", CROWD, str(children)], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"has\n"
        root = reference(first.pid)
        assert root is not None
        members = [one.process for one in trees(all_processes(), [root])[root]]
        try:
            yield root
        finally:
            for one in members:
                one.kill()


class Endings:
    """Notes what is ended; with `bad` it fails."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def __call__(self, sandbox_id: str, reason: str) -> None:
        if sandbox_id == "bad":
            raise OSError(24, "too many open files")
        self.ended.append(sandbox_id)


def test_one_that_can_not_be_ended_keeps_no_other_from_being_held_to_its_memory(
    caplog: pytest.LogCaptureFixture,
) -> None:
    end = Endings()
    with crowd(0) as first, crowd(0) as second:
        running = MappingProxyType({"bad": first, "good": second})
        look = MemoryWatch(memory_bytes=1, tasks=100, running=lambda: running, end=end)
        with pytest.raises(ProbeError):  # which keeps more sandboxes from being started
            look()

    assert end.ended == ["good"]
    assert [vars(one)["sandbox_id"] for one in caplog.records if one.exc_info] == ["bad"]


def test_one_whose_processes_can_not_be_ended_keeps_no_other_from_being_held_to_its_tasks(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    end, kill = Endings(), ProcessRef.kill
    with crowd(6) as first, crowd(6) as second:
        beyond_reach = {one.process for one in trees(all_processes(), [first])[first]}

        def failing(process: ProcessRef) -> None:
            if process in beyond_reach:
                raise OSError(24, "too many open files")
            kill(process)

        with monkeypatch.context() as patch:
            patch.setattr(ProcessRef, "kill", failing)
            running = MappingProxyType({"bad": first, "good": second})
            MemoryWatch(memory_bytes=1 << 40, tasks=3, running=lambda: running, end=end)()

    told_of = [(vars(one)["sandbox_id"], vars(one).get("count")) for one in caplog.records]
    assert told_of == [("bad", None), ("good", 4)]


def test_a_look_says_in_one_line_how_many_processes_of_a_sandbox_it_ended(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), crowd(40) as root:
        MemoryWatch(memory_bytes=1 << 40, tasks=3, running=lambda: {"one": root}, end=Endings())()

    (line,) = caplog.records
    assert (vars(line)["sandbox_id"], vars(line)["of"], vars(line)["count"]) == ("one", "tasks", 38)


def test_one_fault_of_a_sandbox_is_not_told_with_every_look(caplog: pytest.LogCaptureFixture) -> None:
    with crowd(0) as root:
        look = MemoryWatch(memory_bytes=1, tasks=100, running=lambda: {"bad": root}, end=Endings())
        for _ in range(3):
            look._looked_at = look._ended_at = float("-inf")
            look._known.clear()
            with pytest.raises(ProbeError):
                look()

    assert len(caplog.records) == 1


def test_one_that_can_not_be_ended_keeps_no_other_from_being_held_to_its_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    end, root = Endings(), reference(os.getpid())
    assert root is not None
    running = {name: Watched(name, tmp_path / name, root) for name in ("bad", "good")}
    for one in running.values():
        one.workspace.mkdir()
    look = WorkspaceWatch(
        folder=tmp_path,
        limit_bytes=10 * MIB,
        limit_files=0,
        isolated=True,
        running=lambda: running,
        end=end,
        look_s=0,
    )
    for name in ("first", "second"):
        for one in running.values():
            (one.workspace / name).write_bytes(bytes(40 * MIB))
        look()

    assert end.ended == ["good"]
    assert [vars(one)["sandbox_id"] for one in caplog.records if one.exc_info] == ["bad"]


def test_what_one_holds_open_and_can_not_be_counted_keeps_no_other_from_being_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = workspace_count.unlinked_files
    with crowd(0) as first, crowd(0) as second:

        def failing(pids: list[int], device: int, **bounds: object) -> tuple[dict[int, int], bool]:
            if first.pid in pids:
                raise ValueError("not a line of maps")
            return count(pids, device)

        monkeypatch.setattr(workspace_count, "unlinked_files", failing)
        watched = [Watched(name, tmp_path, root) for name, root in (("bad", first), ("good", second))]
        bounds = workspace_count.CountBounds(tree_cpu_s=5, deleted_cpu_s=5, timeout_s=30)
        found = list(workspace_count.count_workspaces(watched, 0, bounds, may_unshare=False))

    assert [one.size is None for one in found] == [True, False]


def test_a_counter_that_does_not_end_when_it_is_told_to_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stuck(subprocess.Popen[bytes]):
        """Takes no signal, as what is stuck in the kernel."""

        def kill(self) -> None:
            stuck.append(self)

    stuck: list[Stuck] = []
    monkeypatch.setattr(workspace_count, "Popen", Stuck)
    began = time.monotonic()

    assert list(read_counts([sys.executable, "-I", "-S", "-c", MUTE], [tmp_path], 0.1)) == []

    assert time.monotonic() - began < 15
    (one,) = stuck
    assert one.poll() is None
    subprocess.Popen.kill(one)
    one.wait()
