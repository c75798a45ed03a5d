"""Finding and deleting in trees no honest program makes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import subprocess
import tempfile
import threading
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


async def test_a_pattern_of_many_stars_neither_stops_the_others_nor_lasts(root: Path) -> None:
    (root / ("a" * 120)).touch()
    beats: list[float] = []

    async def beat() -> None:
        while True:
            beats.append(time.monotonic())
            await asyncio.sleep(0.01)

    beating = asyncio.create_task(beat())
    began = time.monotonic()
    assert await asyncio.to_thread(find, root, "*a" * 5 + "b") == ([], False)
    assert time.monotonic() - began < 2
    beating.cancel()
    await asyncio.wait({beating})
    assert max((after - before for before, after in itertools.pairwise(beats)), default=0) < 1


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


@pytest.mark.parametrize("depth", [30, 31, 32, 33, 40])
def test_siblings_below_many_folders_are_all_found_and_deleted(root: Path, depth: int) -> None:
    bottom = root.joinpath("top", *["d"] * depth)
    for name in "abcde":
        (bottom / name).mkdir(parents=True)
        (bottom / name / "needle.txt").touch()
    found, is_cut = find(root, "**/needle.txt")
    assert sorted(found) == [f"{bottom.relative_to(root)}/{name}/needle.txt" for name in "abcde"]
    assert not is_cut
    delete(root, "top")
    assert os.listdir(root) == []


def test_only_folders_that_can_lead_to_a_match_are_gone_into(root: Path) -> None:
    nest(root, DEEP)
    (root / "src").mkdir()
    (root / "src" / "a.py").touch()
    assert find(root, "src/*.py") == (["src/a.py"], False)
    assert find(root, "[!d]*/**/*.py") == (["src/a.py"], False)


def test_folders_are_deleted_however_deep_they_are_and_no_link_is_followed(root: Path, tmp_path: Path) -> None:
    nest(root, DEEP)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (root / "deep" / "link").symlink_to(tmp_path / "kept")
    os.mkfifo(root / "deep" / "d" / "pipe")
    delete(root, "deep")
    assert os.listdir(root) == []
    assert os.listdir(tmp_path / "kept") == ["file"]
    assert open_below(root) == []


@contextlib.contextmanager
def swapped(one: Path, other: Path) -> Iterator[None]:
    """Moved to and fro for the length of the block."""
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                os.rename(one, other)
                os.rename(other, one)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        yield
    finally:
        over.set()
        swapping.join()


def test_deleting_goes_nowhere_else_when_a_folder_is_moved_meanwhile(root: Path) -> None:
    (root / "kept").mkdir()
    for number in range(50):
        (root / "kept" / str(number)).touch()
    moved = root / "kept" / "moved"
    for _ in range(4):
        nest(root, 100)
        with swapped(root / "deep" / "d" / "d", moved), contextlib.suppress(OSError):
            delete(root, "deep")
        subprocess.run(["rm", "-rf", str(root / "deep"), str(moved)], check=True)
    assert {str(number) for number in range(50)} <= set(os.listdir(root / "kept"))


def test_deleting_ends_at_its_time(root: Path) -> None:
    nest(root, 10)
    with pytest.raises(TimeoutError):
        delete(root, "deep", within_s=-1)
