"""A sandbox ends for a workspace that goes on growing beyond its limit, not for one that is full."""

from __future__ import annotations

import os
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.process.processes import reference
from sandbox_manager.infrastructure.runtimes.process.workspace_watch import Watched, WorkspaceWatch

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
