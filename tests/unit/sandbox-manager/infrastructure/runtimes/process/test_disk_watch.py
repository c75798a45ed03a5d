"""Which sandbox ends for its workspace: one that goes on growing beyond its limit, not one that is full."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process import disk_watch as module
from sandbox_manager.infrastructure.runtimes.process.disk_watch import DiskWatch, Watched
from sandbox_manager.infrastructure.runtimes.process.processes import reference

MIB = 1 << 20
WITHIN_S = 60.0
WRITTEN = """import sys, time
sys.stdout.write({written!r})
sys.stdout.flush()
time.sleep({seconds})
"""


@dataclass
class Scene:
    """Sandboxes whose workspaces have the sizes that are given, and those that were ended."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    limit_bytes: int = 100 * MIB
    limit_files: int = 1000
    names: list[str] = field(default_factory=lambda: ["one"])
    ended: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    fails_for: str = ""
    own_limit_bytes: int | None = None

    def __post_init__(self) -> None:
        root = reference(os.getpid())
        assert root is not None
        self.root = root
        self.watch = DiskWatch(self.folder, self.limit_bytes, self.limit_files, self.running, self._end)

    def running(self) -> dict[str, Watched]:
        limit = self.own_limit_bytes
        return {name: Watched(f"session-{name}", self.folder / name, self.root, limit) for name in self.names}

    def _end(self, sandbox_id: str, reason: str) -> None:
        if sandbox_id == self.fails_for:
            raise OSError(24, "too many open files")
        self.ended.append((sandbox_id, reason))

    def count(self, written: str, seconds: float = 0) -> None:
        """Each running workspace is counted once, with what its program writes before it goes on for so long."""
        program = self.folder / "counts.py"
        program.write_text(WRITTEN.format(written=written, seconds=seconds))
        self.monkeypatch.setattr(module, "_PYTHON_PATH", str(self.folder))
        self.monkeypatch.setattr(module.workspace_size, "__name__", "counts")
        for known in self.watch._known.values():
            known.counted_at = float("-inf")
        self.watch.look()
        becomes(lambda: all(one.program.poll() is not None for one in self.watch._counts.values()) or seconds > 0)
        self.watch.look()

    def has(self, mebibytes: float, files: int = 1, *, complete: bool = True, deleted: float = 0) -> None:
        self.count(f"{round(mebibytes * MIB)} {files} {int(complete)} {round(deleted * MIB)}\n")

    @property
    def reasons(self) -> list[str]:
        return [reason for _, reason in self.ended]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch)


def becomes(so: Callable[[], bool]) -> None:
    until = time.monotonic() + WITHIN_S
    while not so():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_workspace_that_grows_beyond_its_limit_ends_its_sandbox_at_the_second_look(scene: Scene) -> None:
    scene.has(200)
    assert scene.ended == []
    scene.has(205)
    assert scene.reasons == [module._OVER]


def test_one_of_another_size_has_the_limit_of_its_size(scene: Scene) -> None:
    scene.own_limit_bytes = 300 * MIB
    scene.has(150)
    scene.has(250)
    assert scene.reasons == []
    scene.has(400)
    scene.has(450)
    assert len(scene.reasons) == 1


def test_one_that_stays_over_its_limit_or_shrinks_goes_on_until_it_grows_again(scene: Scene) -> None:
    for mebibytes in (200, 200, 150):
        scene.has(mebibytes)
    assert scene.ended == []
    scene.has(155)
    assert scene.reasons == [module._OVER]


def test_one_that_came_back_below_its_limit_begins_anew(scene: Scene) -> None:
    for mebibytes in (200, 20, 205):
        scene.has(mebibytes)
    assert scene.ended == []


def test_the_next_sandbox_of_a_workspace_that_was_over_its_limit_begins_where_the_last_one_ended(scene: Scene) -> None:
    scene.has(200)
    scene.names = []
    scene.watch.look()
    scene.names = ["one"]
    scene.has(205)
    assert scene.reasons == [module._OVER]


def test_files_count_as_bytes_do(scene: Scene) -> None:
    scene.has(1, files=5000)
    scene.has(1, files=5500)
    assert scene.reasons == [module._OVER]


def test_deleted_files_over_the_limit_at_two_looks_end_the_sandbox_though_they_do_not_grow(scene: Scene) -> None:
    scene.has(200, deleted=190)
    scene.has(200, deleted=190)
    assert scene.reasons == [module._OVER]


def test_a_workspace_that_can_not_be_counted_three_times_in_a_row_ends_its_sandbox(scene: Scene) -> None:
    for complete in (False, False, True, False, False):
        scene.has(1, complete=complete)
    assert scene.ended == []
    scene.has(1, complete=False)
    assert scene.reasons == [module._COUNTLESS]


def test_where_there_may_be_any_number_of_files_none_ends_for_having_too_many_to_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(tmp_path, monkeypatch, limit_files=0)
    for _ in range(4):
        scene.has(1, complete=False)
    assert scene.ended == []


def test_a_machine_on_which_nothing_can_be_counted_ends_nobody(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(4):
        scene.count("")
    assert scene.ended == []
    assert {one.message for one in caplog.records} == {"a workspace could not be counted"}


@pytest.mark.thorough
def test_a_count_that_hangs_is_ended_and_what_it_has_written_counts(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LONGEST_S", 5.0)
    for mebibytes in (200, 205):
        began = time.monotonic()
        scene.count(f"{mebibytes * MIB} 1 1 0\nhalf a li", seconds=600)
        program = scene.watch._counts["one"].program
        assert program.poll() is None
        while "one" in scene.watch._counts:
            scene.watch._known["session-one"].counted_at = time.monotonic()
            scene.watch.look()
            assert time.monotonic() - began < WITHIN_S
        assert program.poll() is not None
    assert scene.reasons == [module._OVER]


def test_one_that_can_not_be_ended_keeps_no_other_from_it(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.names, scene.fails_for = ["bad", "good"], "bad"
    scene.has(200)
    scene.has(205)
    assert [one for one, _ in scene.ended] == ["good"]
    assert [vars(one)["sandbox_id"] for one in caplog.records if one.exc_info] == ["bad"]


def test_a_workspace_is_counted_once_a_minute_and_sooner_while_the_disk_fills(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, free = 1000.0, 10_000 * MIB
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    monkeypatch.setattr(module.os, "statvfs", lambda _: os.statvfs_result((1, 1, 0, 0, free, 0, 0, 10**6, 0, 255)))
    known = module._Known(counted_at=now)
    scene.watch._known["session-one"] = known
    begun: list[float] = []
    monkeypatch.setattr(module, "measure", lambda _: begun.append(now))

    def looked_at(moment: float) -> bool:
        nonlocal now
        now = moment
        begun.clear()
        scene.watch.look()
        scene.watch._counts.clear()
        return bool(begun)

    assert not looked_at(1059.0)
    assert looked_at(1060.0)
    known.counted_at = 1060.0
    assert not looked_at(1063.0)
    free -= 3 * MIB  # more than a fiftieth of the limit of one workspace
    assert looked_at(1064.0)
    known.counted_at = 1060.0
    assert not looked_at(1080.0)
    known.over = module.Size(200 * MIB, 1)
    assert looked_at(1080.0), "whether it grows has to be known"


def test_without_limits_nothing_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path, monkeypatch, limit_bytes=0, limit_files=0)
    scene.watch.look()
    assert scene.watch._counts == {}


def test_counts_under_way_end_with_the_watch(scene: Scene) -> None:
    scene.count("", seconds=600)
    program = scene.watch._counts["one"].program
    scene.watch.close()
    assert program.poll() is not None
