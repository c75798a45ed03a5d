"""What a tree takes up is counted however it was made: too deep for a path, closed to its owner, linked, restless."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from service_kit import tree_size as program
from service_kit.open_files import unlinked_size
from service_kit.tree_size import TreeSize, tree_size
from support.descriptors import open_below
from support.ordinary_user import as_ordinary_user, hand_to_ordinary_user

MIB = 1 << 20
pytestmark = pytest.mark.timeout(120)


def write(path: str | Path, size: int, *, folder: int | None = None) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=folder)
    os.write(fd, b"x" * size)
    os.close(fd)


def nest(root: Path, depth: int, name: str) -> int:
    """So many folders in one another; answers a descriptor of the last."""
    fd = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    return fd


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "workspace"
    root.mkdir()
    yield root
    subprocess.run(["chmod", "-R", "u+rwx", str(root)], check=False, capture_output=True)
    subprocess.run(["rm", "-rf", str(root)], check=True)


def test_bytes_count_however_deep_they_lie_and_wherever_on_the_way(root: Path) -> None:
    for depth, name in ((20_000, "d"), (300, "n" * 250)):
        last = nest(root, depth, name)
        write("hidden", MIB, folder=last)
        os.close(last)
    first = os.open(root / "d", os.O_RDONLY)
    write("beside", MIB, folder=first)
    os.close(first)
    found = tree_size(str(root))
    assert found.files == 20_000 + 300 + 3
    assert 3 * MIB <= found.bytes < 3 * MIB + 20_400 * 4096
    assert found.complete
    assert open_below(root) == []


@pytest.mark.thorough
def test_many_branches_below_a_deep_one_are_all_counted_with_few_folders_open(root: Path) -> None:
    last = nest(root, 150, "d")
    for branch in range(20):
        os.mkdir(f"b{branch}", dir_fd=last)
        at = os.open(f"b{branch}", os.O_RDONLY, dir_fd=last)
        for _ in range(100):
            os.mkdir("e", dir_fd=at)
            inner = os.open("e", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = inner
        write("file", 1, folder=at)
        os.close(at)
    os.close(last)
    found = tree_size(str(root))
    assert (found.files, found.complete) == (150 + 20 * 102, True)


def test_links_lead_nowhere_and_the_bytes_of_a_file_with_two_names_count_once(root: Path) -> None:
    write(root / "one", MIB)
    os.link(root / "one", root / "two")
    (root / "out").symlink_to("/usr")
    found = tree_size(str(root))
    assert found.files == 3
    assert MIB <= found.bytes < MIB + 64 * 1024


@pytest.mark.parametrize(
    "mode", [0, pytest.param(0o400, marks=pytest.mark.thorough), pytest.param(0o100, marks=pytest.mark.thorough)]
)
def test_a_folder_closed_to_its_own_owner_counts_and_stays_closed(root: Path, mode: int) -> None:
    (root / "closed" / "inner").mkdir(parents=True)
    write(root / "closed" / "inner" / "file", MIB)
    hand_to_ordinary_user(root)
    for one in root.rglob("*"):
        hand = one.lstat()
        os.chown(one, root.stat().st_uid, root.stat().st_gid)
        assert hand.st_size >= 0
    (root / "closed").chmod(mode)
    text = Path(program.__file__).read_text()
    command = as_ordinary_user([sys.executable, "-I", "-S", "-c", text, "0", "20"])
    told = subprocess.run(command, input=f"{root}\n", capture_output=True, text=True, check=True).stdout.split()
    assert int(told[0]) >= MIB
    assert told[1:] == ["3", "1"]
    assert stat.S_IMODE((root / "closed").stat().st_mode) == mode


def test_counting_ends_above_the_most_there_is_to_count_and_at_its_deadline(root: Path) -> None:
    for number in range(3000):
        (root / str(number)).touch()
    found = tree_size(str(root), max_files=1000)
    assert 1000 < found.files < 3000
    assert not found.complete
    assert not tree_size(str(root), deadline_s=0).complete


@pytest.mark.thorough
def test_names_of_one_file_count_and_end_the_count_as_files_do(root: Path) -> None:
    (root / "0").touch()
    for number in range(1, 3000):
        os.link(root / "0", root / str(number))
    assert tree_size(str(root)).files == 3000
    assert not tree_size(str(root), max_files=1000).complete
    late = tree_size(str(root), deadline_s=0)
    assert not late.complete
    assert late.files < 3000


@pytest.mark.thorough
def test_folders_moved_while_they_are_counted_never_lead_out_of_the_tree(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for number in range(500):
        (outside / str(number)).touch()
    last = nest(root, 200, "d")
    for number in range(50):
        os.mkdir(f"x{number}", dir_fd=last)
    os.close(last)
    deep = os.path.join(root, *["d"] * 190)
    ends = threading.Event()

    def move() -> None:
        while not ends.is_set():
            os.rename(deep, outside / "gone")
            os.rename(outside / "gone", deep)

    mover = threading.Thread(target=move)
    mover.start()
    try:
        for _ in range(50):
            assert tree_size(str(root)).files <= 250
    finally:
        ends.set()
        mover.join()


def test_what_was_deleted_and_is_still_open_is_found_with_whoever_holds_it(root: Path) -> None:
    with (root / "gone").open("wb") as file:
        file.write(b"x" * MIB)
        file.flush()
        os.unlink(root / "gone")
        held = unlinked_size([os.getpid()], root.stat().st_dev)
        assert held.files >= 1
        assert held.bytes >= MIB


HELD = """
import ctypes, mmap, os, sys, threading, time
how, path = sys.argv[1:]
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
def hold():
    if how == "table":
        assert libc.unshare(0x400) == 0
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.write(fd, b"x" * (1 << 20))
    if how == "mapping":
        libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        os.close(fd)
    os.unlink(path)
    print("held", flush=True)
    time.sleep(60)
thread = threading.Thread(target=hold)
thread.start()
if how == "ended":
    ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.parametrize(
    "how",
    [pytest.param("table", marks=pytest.mark.thorough), "mapping", pytest.param("ended", marks=pytest.mark.thorough)],
)
def test_what_was_deleted_is_found_in_mappings_and_with_any_thread(root: Path, how: str) -> None:
    command = [sys.executable, "-c", HELD, how, str(root / "gone")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            held = unlinked_size([holder.pid], root.stat().st_dev, str(root))
            assert held.files == 1
            told = how != "mapping" or os.geteuid() == 0
            assert MIB * told <= held.bytes < 2 * MIB
            assert unlinked_size([holder.pid], root.stat().st_dev, "/elsewhere") == TreeSize(0, 0)
        finally:
            holder.kill()
