"""Finding and deleting in trees of folders."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.descriptors import open_below
from tool_api.tools.files import folders
from tool_api.workspace import Workspace

DEEP = 1500
SOON_S = 30.0


@pytest.fixture
def root() -> Iterator[Path]:
    # In memory: thousands of folders are made.
    root = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield root
    subprocess.run(["rm", "-rf", str(root)], check=True)


def nest(root: Path, depth: int) -> None:
    """So many folders in one another below `deep`, each with a file."""
    os.mkdir(root / "deep")
    fd = os.open(root / "deep", os.O_RDONLY)
    for _ in range(depth):
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)


def find(root: Path, pattern: str) -> tuple[list[str], bool]:
    with Workspace(root).locate(".") as place:
        return folders.find_files(place, pattern)


def delete(root: Path, path: str, *, within_s: float = SOON_S) -> None:
    with Workspace(root).locate(path, follow=False) as place:
        folders.delete(place, recursive=True, until=time.monotonic() + within_s)


def test_finding_ends_at_its_time_inside_of_a_folder_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_FIND_S", 0.0)
    for number in range(100):
        (root / f"{number}.txt").touch()
    assert find(root, "*.py") == ([], True)


def test_what_lies_too_deep_is_told_to_be_left_out(root: Path) -> None:
    nest(root, DEEP)
    found, is_cut = find(root, "file")
    assert is_cut
    assert found[0] == "deep/file"
    assert len(found) > 200
    assert open_below(root) == []


def test_only_folders_that_can_lead_to_a_match_are_gone_into(root: Path) -> None:
    nest(root, DEEP)
    (root / "src").mkdir()
    (root / "src" / "a.py").touch()
    assert find(root, "src/*.py") == (["src/a.py"], False)
    assert find(root, "[!d]*/**/*.py") == (["src/a.py"], False)


def test_folders_are_deleted_with_all_they_hold_and_no_link_is_followed(root: Path, tmp_path: Path) -> None:
    nest(root, 50)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (root / "deep" / "link").symlink_to(tmp_path / "kept")
    os.mkfifo(root / "deep" / "d" / "pipe")
    delete(root, "deep")
    assert os.listdir(root) == []
    assert os.listdir(tmp_path / "kept") == ["file"]
    assert open_below(root) == []


def test_folders_too_deep_to_be_deleted_are_told(root: Path) -> None:
    nest(root, DEEP)
    with pytest.raises(OSError, match="too deep"):
        delete(root, "deep")
    assert open_below(root) == []


def test_deleting_ends_at_its_time(root: Path) -> None:
    nest(root, 10)
    with pytest.raises(TimeoutError):
        delete(root, "deep", within_s=-1)
