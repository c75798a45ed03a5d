"""What hides in a sandbox and is not found out in time, and what of ours keeps us from asking."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from sandbox_manager.infrastructure.runtimes.process import (
    bounded_looks,
    memory_watch,
    workspace_count,
    workspace_watch,
)
from sandbox_manager.infrastructure.runtimes.process import limits as limits_module
from sandbox_manager.infrastructure.runtimes.process.descriptors import DescriptorMemory
from sandbox_manager.infrastructure.runtimes.process.hidden_files import HiddenFile, ProbeError
from sandbox_manager.infrastructure.runtimes.process.limits import Limits
from sandbox_manager.infrastructure.runtimes.process.memory import Member, TablesAndSwap
from sandbox_manager.infrastructure.runtimes.process.memory_watch import MemoryWatch
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, reference
from sandbox_manager.infrastructure.runtimes.process.store import Store
from sandbox_manager.infrastructure.runtimes.process.watches import Watches
from sandbox_manager.infrastructure.runtimes.process.workspace_count import CountBounds, Watched, read_counts
from sandbox_manager.infrastructure.runtimes.process.workspace_watch import WorkspaceWatch
from service_kit.tree_size import TreeSize
from support.sandboxes import inside

MIB = 1 << 20
SANDBOX = "0123456789abcdef"
LOOKS = 4
ROOT, TOOL_API, SHELL, OTHER = (ProcessRef(1 << 30 | number, number) for number in range(4))


class Scene:
    """One sandbox whose memory is watched; `held` is what is found of its descriptors."""

    def __init__(self, held: DescriptorMemory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.killed: set[ProcessRef] = set()
        self.ended: list[str] = []
        self.held = held
        parents = {ROOT: 1, TOOL_API: ROOT.pid, SHELL: TOOL_API.pid, OTHER: TOOL_API.pid}
        members = [Member(one, parent, MIB, 1) for one, parent in parents.items()]
        replaced = {
            "all_processes": dict,
            "trees": lambda *_: {ROOT: members},
            "are_too_many": lambda _: False,
            "bytes_held": lambda *_: self.held,
        }
        for name, stand_in in replaced.items():
            monkeypatch.setattr(memory_watch, name, stand_in)
        monkeypatch.setattr(ProcessRef, "kill", lambda process: self.killed.add(process))
        running = MappingProxyType({"one": ROOT})
        self.watch = MemoryWatch(1 << 40, 9, lambda: running, lambda one, _: self.ended.append(one))

    def look(self) -> None:
        self.watch._looked_at = self.watch._ended_at = float("-inf")
        for known in self.watch._known.values():
            known.descriptors_at = float("-inf")
        self.watch()


def test_one_whose_first_processes_are_not_found_out_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(DescriptorMemory({}, [TOOL_API.pid, SHELL.pid], 0), monkeypatch)
    for _ in range(2):
        scene.look()
    assert scene.ended == []
    scene.look()
    assert scene.ended == ["one"]


def test_of_other_processes_those_that_are_not_found_out_end(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(DescriptorMemory({}, [SHELL.pid], 0), monkeypatch)
    for _ in range(LOOKS):
        scene.look()
    assert (scene.killed, scene.ended) == ({SHELL}, [])


def test_what_keeps_the_memory_watch_from_asking_ends_nobody_and_is_no_look_that_worked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(DescriptorMemory({}, [], 0, "no process to be had"), monkeypatch)
    for _ in range(LOOKS):
        with pytest.raises(ProbeError, match="no process to be had"):
            scene.look()
    with pytest.raises(ProbeError):  # between looks it is no better
        scene.watch()
    assert (scene.killed, scene.ended) == (set(), [])

    scene.held = DescriptorMemory({}, [], 0)
    scene.look()


class Workspace:
    """One that is watched, of a process that hides what it has open."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / "workspace").mkdir()
        root = reference(os.getpid())
        assert root is not None
        self.ended: list[str] = []
        watched = Watched("session", folder / "workspace", root)
        monkeypatch.setattr(workspace_count, "hides", lambda _: True)
        self.watch = WorkspaceWatch(
            folder=folder,
            limit_bytes=10 * MIB,
            limit_files=100,
            isolated=False,
            running=lambda: {"one": watched},
            end=lambda one, _: self.ended.append(one),
            look_s=0,
            quick=CountBounds(tree_cpu_s=5, deleted_cpu_s=5, timeout_s=30),
        )

    def look(self) -> None:
        try:
            self.watch()
        finally:
            for thread in threading.enumerate():
                if thread.name == "large-workspace":
                    thread.join(30)


def test_what_keeps_a_count_from_asking_ends_nobody_and_is_no_look_that_worked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(pids: Sequence[int], timeout_s: float, *, starved: int) -> tuple[list[HiddenFile], list[int]]:
        raise ProbeError("no process to be had")

    scene = Workspace(tmp_path, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(workspace_count, "hidden_files", failing)
        for _ in range(LOOKS):
            with pytest.raises(ProbeError, match="no process to be had"):
                scene.look()
    monkeypatch.setattr(workspace_count, "hidden_files", lambda *_, **__: ([], []))
    scene.look()
    assert scene.ended == []


@pytest.mark.parametrize("program", ["not there", "ends at once"])
def test_a_counter_that_can_not_count_is_no_look_that_worked(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Faulty(subprocess.Popen[bytes]):
        def __init__(self, _command: list[str], **options: object) -> None:
            if program == "not there":
                raise FileNotFoundError(2, "No such file or directory")
            command = [sys.executable, "-S", "-c", "raise SystemExit(1)"]
            super().__init__(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    scene = Workspace(tmp_path, monkeypatch)
    monkeypatch.setattr(workspace_count, "hidden_files", lambda *_, **__: ([], []))
    with monkeypatch.context() as patch:
        patch.setattr(workspace_count, "Popen", Faulty)
        with pytest.raises(ProbeError):
            list(read_counts([], [tmp_path], 5))
        with pytest.raises(ProbeError, match="The workspace counter"):
            scene.look()
    scene.look()


class Several:
    """Sandboxes of one process each, whose looks are recorded."""

    def __init__(self, names: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.roots = {name: ProcessRef(1 << 30 | number, number) for number, name in enumerate(names)}
        self.looked: list[str] = []
        self.ended: list[tuple[str, str]] = []
        replaced = {
            "all_processes": dict,
            "trees": lambda *_: {root: [Member(root, 1, MIB, 1)] for root in self.roots.values()},
            "are_too_many": lambda _: False,
            "tables_and_swap": self._seen,
        }
        for name, stand_in in replaced.items():
            monkeypatch.setattr(memory_watch, name, stand_in)
        self.watch = MemoryWatch(1 << 40, 9, lambda: self.roots, lambda one, why: self.ended.append((one, why)))
        self.burn_s = dict.fromkeys(names, 0.0)

    def name(self, pid: int) -> str:
        return next(name for name, root in self.roots.items() if root.pid == pid)

    def _seen(self, pid: int) -> TablesAndSwap:
        name = self.name(pid)
        self.looked.append(name)
        until = time.thread_time() + self.burn_s[name]
        while time.thread_time() < until:
            pass
        return TablesAndSwap(0, 0)

    def look(self) -> None:
        self.watch._looked_at = self.watch._ended_at = float("-inf")
        self.watch()


def test_a_look_the_kernel_blocks_delays_no_other_and_ends_its_own_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    released, blocked = threading.Event(), set[threading.Thread]()
    scene = Several(("stuck", "other"), monkeypatch)

    def held(pids: Sequence[int], _memory: object) -> DescriptorMemory:
        if scene.name(pids[0]) == "stuck":
            blocked.add(threading.current_thread())
            released.wait(60)
        return DescriptorMemory({}, [], 0)

    monkeypatch.setattr(memory_watch, "bytes_held", held)
    monkeypatch.setattr(memory_watch, "_BLOCKED_S", 0.2)
    monkeypatch.setattr(bounded_looks, "_is_blocked", lambda thread: thread in blocked)
    monkeypatch.setattr(memory_watch, "_JOIN_S", 0.1)
    try:
        for _ in range(50):
            scene.look()
            if scene.ended:
                break
            time.sleep(0.01)
        assert {name for name, _ in scene.ended} == {"stuck"}
        assert scene.looked.count("other") == scene.looked.count("stuck") > 1
    finally:
        released.set()


def test_a_costly_sandbox_has_its_turn_however_many_others_take_the_time_of_each_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It came last once it was costly, and others of its owner's could use up every round before it."""
    monkeypatch.setattr(memory_watch, "_COSTLY_DELAY_S", 0.2)
    monkeypatch.setattr(memory_watch, "bytes_held", lambda *_: DescriptorMemory({}, [], 0))
    scene = Several(("costly", "one", "two", "three", "four"), monkeypatch)
    scene.burn_s = {"costly": 0.11, "one": 0.04, "two": 0.04, "three": 0.04, "four": 0.04}
    for _ in range(30):
        scene.look()
    assert scene.looked.count("costly") > 2


def test_a_look_that_fails_is_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> DescriptorMemory:
        raise RuntimeError("can't start new thread")

    scene = Several(("one", "other"), monkeypatch)
    monkeypatch.setattr(memory_watch, "bytes_held", failing)
    with pytest.raises(ProbeError):
        scene.look()
    monkeypatch.setattr(memory_watch, "bytes_held", lambda *_: DescriptorMemory({}, [], 0))
    scene.look()


@pytest.mark.parametrize(("mib", "rest_s"), [(11, 120), (50, 20)], ids=["within", "over"])
def test_a_large_workspace_that_is_over_its_limit_is_soon_counted_again(
    mib: int, rest_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it went on filling was known after two minutes, whatever it had written meanwhile."""

    def counted(watched: Sequence[Watched], _: int, bounds: CountBounds, **__: object) -> list[workspace_count.Counted]:
        size = TreeSize(mib * MIB, 1, complete=bounds is workspace_watch.LONG)
        return [workspace_count.Counted(size, 30.0) for _ in watched]

    monkeypatch.setattr(workspace_watch, "count_workspaces", counted)
    running = MappingProxyType({"one": Watched("one", tmp_path, ROOT)})
    watch = WorkspaceWatch(tmp_path, 20 * MIB, 0, True, lambda: running, lambda *_: None)
    watch()
    watch.close()
    watch()

    assert watch._known["one"].due_at - time.monotonic() == pytest.approx(rest_s, abs=10)


def test_long_counts_are_waited_for_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, counted = threading.Event(), threading.Event()

    def slow(watched: Sequence[Watched], *_: object, **__: object) -> list[workspace_count.Counted]:
        if watched and threading.current_thread().name == "large-workspace":
            begun.set()
            threading.Event().wait(0.3)
            counted.set()
        return [workspace_count.Counted(None, 0) for _ in watched]

    scene = Workspace(tmp_path, monkeypatch)
    monkeypatch.setattr(workspace_watch, "count_workspaces", slow)
    scene.watch()
    assert begun.wait(10)
    scene.watch.close()
    assert counted.is_set()


@pytest.mark.parametrize("switch", [None, "freezer.state", "cgroup.freeze"])
def test_only_a_sandbox_there_is_a_switch_for_is_held_for_a_look(
    switch: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits_module, "_ROOT", tmp_path)
    limits = Limits("cgroup v1", inside())
    store = Store(tmp_path / "store", "stack")
    watches = Watches(tmp_path, "stack", store, limits, isolated=True)
    for folder in limits.folders(SANDBOX):
        folder.mkdir(parents=True)
    if switch is not None:
        (limits.folders(SANDBOX)[-1] / switch).touch()

    assert (watches._freezer(SANDBOX, ROOT) is not None) == (switch is not None)
