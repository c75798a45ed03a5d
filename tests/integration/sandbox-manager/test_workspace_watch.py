"""A sandbox ends for a workspace that goes on growing beyond its limit, not for one that is full."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process.descriptors import are_too_many
from sandbox_manager.infrastructure.runtimes.process.hidden_files import ProbeError
from sandbox_manager.infrastructure.runtimes.process.memory import all_processes, trees
from sandbox_manager.infrastructure.runtimes.process.processes import reference
from sandbox_manager.infrastructure.runtimes.process.workspace_count import CountBounds, Watched, read_counts
from sandbox_manager.infrastructure.runtimes.process.workspace_watch import WorkspaceWatch
from service_kit import tree_size as program
from service_kit.tree_size import TreeSize

MIB = 1 << 20


class Scene:
    """One workspace, watched; what was ended is in `ended`."""

    def __init__(self, folder: Path, *, limit_bytes: int = 0, limit_files: int = 0) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        root = reference(os.getpid())
        assert root is not None
        self.runs = True
        self.ended: list[str] = []
        self.reasons: list[str] = []
        self.look = WorkspaceWatch(
            folder=folder,
            limit_bytes=limit_bytes,
            limit_files=limit_files,
            isolated=True,
            running=lambda: {"one": Watched("session", self.workspace, root)} if self.runs else {},
            end=self._end,
            look_s=0,
        )

    def _end(self, sandbox_id: str, reason: str) -> None:
        self.ended.append(sandbox_id)
        self.reasons.append(reason)

    def finish_long_counts(self) -> None:
        for thread in threading.enumerate():
            if thread.name == "large-workspace":
                thread.join(30)

    def write(self, name: str, mebibytes: int) -> None:
        (self.workspace / name).write_bytes(b"x" * (mebibytes * MIB))


def test_bytes_that_grow_beyond_the_limit_end_it_at_the_second_look(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limit_bytes=10 * MIB)
    scene.write("first", 40)
    scene.look()
    assert scene.ended == []
    scene.write("second", 5)
    scene.look()
    assert scene.ended == ["one"]


def test_one_that_is_over_and_stays_there_or_shrinks_goes_on(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limit_bytes=10 * MIB)
    for name, mebibytes in (("first", 40), ("first", 40), ("first", 35)):
        scene.write(name, mebibytes)
        scene.look()
    assert scene.ended == []
    scene.write("second", 3)
    scene.look()
    assert scene.ended == ["one"], "it had become less, and grew again"


def test_the_next_sandbox_of_a_workspace_that_was_over_its_limit_begins_where_the_last_one_ended(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, limit_bytes=10 * MIB)
    scene.write("first", 40)
    scene.look()
    scene.runs = False
    scene.look()
    scene.runs = True
    scene.write("second", 5)
    scene.look()
    assert scene.ended == ["one"], "it had an allowance of its own"


def test_one_that_came_back_below_the_limit_begins_anew(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limit_bytes=10 * MIB)
    for mebibytes in (40, 2, 41):
        scene.write("first", mebibytes)
        scene.look()
    assert scene.ended == []


def test_files_count_as_bytes_do_and_without_limits_nothing_does(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limit_files=100)
    for batch in range(2):
        for number in range(1500):
            (scene.workspace / f"{batch}-{number}").touch()
        scene.look()
    assert scene.ended == ["one"]
    (tmp_path / "free").mkdir()
    free = Scene(tmp_path / "free")
    for mebibytes in (40, 80):
        free.write("first", mebibytes)
        free.look()
    assert free.ended == []


def test_a_workspace_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limit_bytes=1)
    scene.workspace.rmdir()
    scene.look()
    scene.look()
    assert scene.ended == []


def test_one_that_can_not_be_counted_to_its_end_is_counted_apart_and_ends_at_the_third_time(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limit_files=100)
    scene.write("first", 1)
    scene.look.quick = CountBounds(tree_cpu_s=0, deleted_cpu_s=1, timeout_s=5)
    scene.look.long = CountBounds(tree_cpu_s=0, deleted_cpu_s=1, timeout_s=5)
    until = time.monotonic() + 60
    while not scene.ended and time.monotonic() < until:
        scene.look()
        scene.finish_long_counts()
    assert scene.ended == ["one"]
    assert "could not be counted" in scene.reasons[0]


def test_a_large_one_is_counted_apart_and_goes_on(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limit_bytes=10 * MIB)
    scene.look.quick = CountBounds(tree_cpu_s=0, deleted_cpu_s=1, timeout_s=5)
    for name in ("first", "second"):
        scene.write(name, 40)
        assert scene.ended == []
        scene.look()
        scene.finish_long_counts()
    scene.look()
    assert scene.ended == ["one"], "it grew from one long count to the next"


def test_one_holds_no_more_descriptors_than_can_be_looked_through(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limit_bytes=10 * MIB)
    hoard = "import os, time\nfor _ in range(4):\n  if not os.fork(): break\n" + HOARD
    with subprocess.Popen([sys.executable, "-c", hoard], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        root = reference(first.pid)
        assert root is not None
        for _ in range(5):
            assert first.stdout.readline() == b"has\n"
        scene.look.running = lambda: {"one": Watched("session", scene.workspace, root)}
        held = [one.process for one in trees(all_processes(), [root])[root]]
        assert are_too_many(one.pid for one in held)
        scene.look()
        until = time.monotonic() + 10
        while are_too_many(one.pid for one in held) and time.monotonic() < until:
            pass
        left = [one for one in held if one.is_alive]
        assert not are_too_many(one.pid for one in left)
        assert root in left, "what answers at the endpoint is spared"
        for process in left:
            process.kill()


HOARD = """
import resource
limit = min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
try:
    while True:
        os.dup(1)
except OSError:
    os.write(1, b"has\\n")
    time.sleep(60)
"""
STUCK = """
import sys, time
for line in sys.stdin:
    if "stuck" in line:
        time.sleep(60)
    print(1, 2, 1, flush=True)
"""


def sizes(command: list[str], folders: list[Path], timeout_s: float) -> list[TreeSize]:
    return [size for size, _ in read_counts(command, folders, timeout_s)]


def test_what_was_told_before_one_that_takes_too_long_is_kept(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second", "stuck", "last")]
    command = [sys.executable, "-I", "-S", "-c", STUCK]
    assert sizes(command, folders, 0.5) == [TreeSize(1, 2)] * 2


@pytest.mark.parametrize("command", ["false", "/not/there"])
def test_a_counter_that_does_not_come_to_count_is_no_workspaces_fault(command: str, tmp_path: Path) -> None:
    with pytest.raises(ProbeError):
        sizes([command], [tmp_path], 5)


def test_each_folder_is_told_of_in_turn(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        for name in range(number):
            (tmp_path / str(number) / str(name)).touch()
    command = [sys.executable, "-I", "-S", program.__file__, "0", "10"]
    folders = [tmp_path / str(number) for number in range(3)]
    assert [size.files for size in sizes(command, folders, 10)] == [0, 1, 2]
