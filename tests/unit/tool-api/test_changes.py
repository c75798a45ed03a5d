"""The files that changed since the last look, whoever wrote them."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tool_api import changes
from tool_api.changes import WorkspaceChanges


@pytest.fixture
def watched(tmp_path: Path) -> WorkspaceChanges:
    (tmp_path / "old.txt").write_text("old")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a")
    (tmp_path / "src" / "b.py").write_text("b")
    watched = WorkspaceChanges(tmp_path)
    watched.begin()
    return watched


def test_nothing_has_changed_where_nothing_was_written(watched: WorkspaceChanges) -> None:
    assert watched.take() == []


def test_new_changed_and_removed_files_are_told_once(tmp_path: Path, watched: WorkspaceChanges) -> None:
    (tmp_path / "new.csv").write_text("x")
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "deep" / "plot.png").write_bytes(b"x")
    (tmp_path / "src" / "a.py").write_text("longer")
    (tmp_path / "src" / "b.py").unlink()
    assert watched.take() == ["new.csv", "out/deep/plot.png", "src/a.py", "src/b.py"]
    assert watched.take() == []


def test_a_file_that_kept_its_size_and_time_but_is_another_one_has_changed(
    tmp_path: Path, watched: WorkspaceChanges
) -> None:
    former = (tmp_path / "old.txt").stat()
    (tmp_path / "next.txt").write_text("new")
    os.utime(tmp_path / "next.txt", ns=(former.st_atime_ns, former.st_mtime_ns))
    os.rename(tmp_path / "next.txt", tmp_path / "old.txt")
    assert watched.take() == ["old.txt"]


def test_a_folder_that_was_moved_or_removed_is_told_with_its_name(tmp_path: Path, watched: WorkspaceChanges) -> None:
    os.rename(tmp_path / "src", tmp_path / "lib")
    assert watched.take() == ["lib/a.py", "lib/b.py", "src"]
    shutil.rmtree(tmp_path / "lib")
    assert watched.take() == ["lib"]


def test_what_nobody_works_in_by_hand_is_left_out(tmp_path: Path, watched: WorkspaceChanges) -> None:
    for name in ("node_modules", ".git", ".transcripts", "__pycache__", "env"):
        (tmp_path / name / "x").mkdir(parents=True)
        (tmp_path / name / "x" / "y").touch()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / ".0011223344556677.part").touch()
    assert watched.take() == []


def test_what_a_person_wrote_is_not_told(tmp_path: Path, watched: WorkspaceChanges) -> None:
    (tmp_path / "src" / "uploaded.csv").write_text("x")
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "uploaded.csv").write_text("x")
    watched.leave_out(["src/uploaded.csv", "in/deep/uploaded.csv"])
    (tmp_path / "mine.txt").write_text("x")
    (tmp_path / "in" / "deep" / "mine.txt").write_text("x")
    assert watched.take() == ["in/deep/mine.txt", "mine.txt"]


def test_names_in_another_encoding_are_told_as_they_are_shown(tmp_path: Path, watched: WorkspaceChanges) -> None:
    with open(os.path.join(os.fsencode(tmp_path), "销售数据.csv".encode("gb18030")), "wb"):
        pass
    assert watched.take() == ["销售数据.csv"]


def test_of_many_files_the_nearest_are_looked_at_in_bounded_time(
    tmp_path: Path, watched: WorkspaceChanges, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_ENTRIES", 500)
    for number in range(100):
        folder = tmp_path / "data" / str(number)
        folder.mkdir(parents=True)
        for name in range(10):
            (folder / str(name)).touch()
    (tmp_path / "result.txt").touch()
    assert "result.txt" in watched.take()
    (tmp_path / "result.txt").write_text("more")
    began = time.process_time()
    assert watched.take() == ["result.txt"]
    assert time.process_time() - began < 2 * changes.MAX_LOOK_S


def test_files_on_their_way_are_no_changes_and_count_as_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_ENTRIES", 500)
    monkeypatch.setattr(changes, "MAX_LOOK_S", 30.0)
    (tmp_path / "few" / "below").mkdir(parents=True)
    (tmp_path / "many" / "below").mkdir(parents=True)
    for number in range(499):
        (tmp_path / "many" / f".{number}.part").touch()
    watched = WorkspaceChanges(tmp_path / "many")
    watched.begin()
    (tmp_path / "many" / "below" / "new.txt").touch()
    assert watched.take() == [], "more was looked at than may be"
    watched = WorkspaceChanges(tmp_path / "few")
    watched.begin()
    (tmp_path / "few" / "below" / "new.txt").touch()
    assert watched.take() == ["below/new.txt"]


def test_a_workspace_that_is_gone_has_no_changes(tmp_path: Path, watched: WorkspaceChanges) -> None:
    shutil.rmtree(tmp_path)
    assert watched.take() == []


def test_what_is_gone_is_told_by_the_name_that_is_shown(tmp_path: Path, watched: WorkspaceChanges) -> None:
    folder = os.fsencode(tmp_path) + "/\u62a5\u544a".encode("gbk")
    os.mkdir(folder)
    os.close(os.open(folder + "/\u8868.csv".encode("gbk"), os.O_CREAT | os.O_WRONLY))
    (tmp_path / "new.csv").symlink_to("nowhere")
    (tmp_path / "old.txt").unlink()
    paths = [*watched.take(), "\u62a5\u544a/none.csv"]
    assert "\u62a5\u544a/\u8868.csv" in paths
    assert watched.gone(paths) == ["old.txt", "\u62a5\u544a/none.csv"]
