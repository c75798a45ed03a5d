"""A sandbox ends for a workspace that goes on growing beyond its limit, not for one that is full."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from contracts import tree_size as program
from contracts.tree_size import TreeSize
from sandbox_manager.infrastructure.runtimes.process.processes import reference
from sandbox_manager.infrastructure.runtimes.process.workspace_watch import Watched, WorkspaceWatch, told

MIB = 1 << 20


class Scene:
    """One workspace, watched; what was ended is in `ended`."""

    def __init__(self, folder: Path, *, limit_bytes: int = 0, limit_files: int = 0) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        root = reference(os.getpid())
        assert root is not None
        self.ended: list[str] = []
        self.look = WorkspaceWatch(
            folder=folder,
            limit_bytes=limit_bytes,
            limit_files=limit_files,
            isolated=True,
            running=lambda: {"one": Watched("session", self.workspace, root)},
            end=lambda sandbox_id, _: self.ended.append(sandbox_id),
            look_s=0,
        )

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


STUCK = """
import sys, time
for line in sys.stdin:
    if "stuck" in line:
        time.sleep(60)
    print(1, 2, 1, flush=True)
"""


def test_what_was_told_before_one_that_takes_too_long_is_kept(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second", "stuck", "last")]
    command = [sys.executable, "-I", "-S", "-c", STUCK]
    assert told(command, folders, 0.5) == [TreeSize(1, 2)] * 2
    assert told(["false"], folders, 0.5) == []
    assert told(["/not/there"], folders, 0.5) == []


def test_each_folder_is_told_of_in_turn(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        for name in range(number):
            (tmp_path / str(number) / str(name)).touch()
    command = [sys.executable, "-I", "-S", program.__file__, "0", "10"]
    folders = [tmp_path / str(number) for number in range(3)]
    assert [size.files for size in told(command, folders, 10)] == [0, 1, 2]
