from __future__ import annotations

import gzip
import io
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox_manager.domain.workspace import ArchiveBounds, SnapshotRefusedError
from sandbox_manager.infrastructure.runtimes import archiving
from sandbox_manager.infrastructure.runtimes.archive import bounds, program, unpacking
from sandbox_manager.infrastructure.runtimes.archive.bounds import FOLDER, STAGE, ArchiveError, Counted
from sandbox_manager.infrastructure.runtimes.archive.packing import pack
from sandbox_manager.infrastructure.runtimes.archive.program import run
from sandbox_manager.infrastructure.runtimes.archive.unpacking import mend, unpack
from support.nested_folders import nest

NOTHING = ArchiveBounds(max_bytes=1)
MANY = ["100000000", "10000"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("workspace", "archives", "outside"):
        (tmp_path / name).mkdir()
    return tmp_path


def do(place: Path, verb: str, name: str = "one", bounds: list[str] | None = None) -> dict[str, object]:
    return run([verb, str(place / "workspace"), str(place / "archives"), name, *(bounds or MANY)])


def tree(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        kind = (
            f"-> {path.readlink()}" if path.is_symlink() else "/" if path.is_dir() else path.read_text(errors="replace")
        )
        found[str(path.relative_to(folder))] = f"{oct(path.lstat().st_mode)} {kind}"
    return found


def filled(place: Path) -> Path:
    workspace = place / "workspace"
    (workspace / "deep" / "er").mkdir(parents=True)
    (workspace / "deep" / "er" / "ü 文.txt").write_text("words")
    (workspace / "run.sh").write_text("#!/bin/sh")
    (workspace / "run.sh").chmod(0o750)
    (workspace / "deep" / "empty").touch()
    (workspace / "link").symlink_to("/etc/passwd")
    (workspace / "dangling").symlink_to("../../nowhere")
    (workspace / "deep").chmod(0o555)
    return workspace


def test_files_folders_links_and_modes_come_back_exactly(place: Path) -> None:
    workspace = filled(place)
    before = tree(workspace)
    changed = (workspace / "run.sh").stat().st_mtime
    told = do(place, "pack")
    (workspace / "deep").chmod(0o755)
    (workspace / "run.sh").write_text("spoiled")
    (workspace / "deep" / "empty").unlink()
    (workspace / "later").write_text("goes away")

    do(place, "unpack")

    assert tree(workspace) == before
    assert int((workspace / "run.sh").stat().st_mtime) == int(changed)
    assert told["content_bytes"] == len("words#!/bin/sh")
    assert (place / "archives" / "one.tar.gz").stat().st_mode & 0o777 == 0o600
    assert os.listdir(place / "archives") == ["one.tar.gz"]


def test_names_that_are_no_text_come_back_byte_for_byte(place: Path) -> None:
    workspace = os.fsencode(place / "workspace")
    os.mkdir(workspace + b"/\xff\xfe")
    for name in (b"/caf\xe9", b"/\xff\xfe/\x80"):
        with open(workspace + name, "wb") as file:
            file.write(name)
    os.link(workspace + b"/caf\xe9", workspace + b"/\xe9linked")
    os.symlink(b"caf\xe9\xff", workspace + b"/\xf0soft")
    do(place, "pack")
    for name in (b"/caf\xe9", b"/\xe9linked", b"/\xf0soft", b"/\xff\xfe/\x80"):
        os.unlink(workspace + name)

    do(place, "unpack")

    assert sorted(os.listdir(workspace)) == [b"caf\xe9", b"\xe9linked", b"\xf0soft", b"\xff\xfe"]
    assert os.readlink(workspace + b"/\xf0soft") == b"caf\xe9\xff"
    assert os.path.samefile(workspace + b"/caf\xe9", workspace + b"/\xe9linked")
    with open(workspace + b"/\xff\xfe/\x80", "rb") as file:
        assert file.read() == b"/\xff\xfe/\x80"


def test_a_refusal_that_names_such_a_file_is_told_as_text(place: Path) -> None:
    with open(os.fsencode(place / "workspace") + b"/caf\xe9", "wb") as file:
        file.write(b"too much")
    words = archiving.arguments("pack", str(place / "workspace"), str(place / "archives"), "one", NOTHING)
    told = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True).stdout

    with pytest.raises(SnapshotRefusedError, match="larger") as refused:
        archiving.answer(told)

    assert "caf\\xe9" in refused.value.detail
    assert os.listdir(place / "archives") == []


def test_the_systems_own_folders_are_neither_packed_nor_replaced(place: Path) -> None:
    workspace = place / "workspace"
    (workspace / ".transcripts").mkdir()
    (workspace / ".transcripts" / "a").write_text("then")
    (workspace / "mine").write_text("1")
    do(place, "pack")
    (workspace / ".transcripts" / "a").write_text("now")

    do(place, "unpack")

    assert (workspace / ".transcripts" / "a").read_text() == "now"
    assert set(os.listdir(workspace)) == {".transcripts", "mine"}


def test_hard_links_stay_one_file_and_holes_stay_holes(place: Path) -> None:
    workspace = place / "workspace"
    (workspace / "a").write_text("same")
    os.link(workspace / "a", workspace / "b")
    with (workspace / "sparse").open("wb") as sparse:
        sparse.truncate(20_000_000)
    do(place, "pack")
    do(place, "unpack")

    assert (workspace / "a").stat().st_ino == (workspace / "b").stat().st_ino
    assert (workspace / "sparse").stat().st_size == 20_000_000
    assert (workspace / "sparse").stat().st_blocks * 512 < 1_000_000
    assert (place / "archives" / "one.tar.gz").stat().st_size < 1_000_000


def test_a_workspace_that_is_empty_too_large_too_many_or_too_deep_leaves_no_archive(place: Path) -> None:
    with pytest.raises(ArchiveError, match="no files"):
        do(place, "pack")
    workspace = place / "workspace"
    with (workspace / "huge").open("wb") as huge:
        huge.truncate(10**12)
    with pytest.raises(ArchiveError, match="larger"):
        do(place, "pack")
    (workspace / "huge").unlink()
    for name in "abc":
        (workspace / name).touch()
    with pytest.raises(ArchiveError, match="more than 2 files"):
        do(place, "pack", bounds=["100", "2"])
    deep = workspace / "/".join("d" * 300)
    deep.mkdir(parents=True)
    with pytest.raises(ArchiveError, match="deeper"):
        do(place, "pack")
    assert os.listdir(place / "archives") == []


def test_a_pipe_or_socket_is_left_out_and_holds_nobody_up(place: Path) -> None:
    workspace = place / "workspace"
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(workspace / "socket"))
    (workspace / "file").write_text("kept")
    do(place, "pack")
    do(place, "unpack")

    assert os.listdir(workspace) == ["file"]


def forged(place: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    target = place / "archives" / "forged.tar.gz"
    with gzip.open(target, "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as writer:
        for info, content in members:
            info.size = len(content)
            writer.addfile(info, io.BytesIO(content))
    return target


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, target, 0o4777
    return info


@pytest.mark.parametrize(
    "members",
    [
        [(member("../outside/x"), b"!")],
        [(member("/etc/x"), b"!")],
        [(member("out", tarfile.SYMTYPE, "../outside"), b""), (member("out/x"), b"!")],
        [(member("out", tarfile.LNKTYPE, "../outside/secret"), b"")],
        [(member(".agent/x"), b"!")],
        [(member("a"), b"!"), (member("a"), b"?")],
    ],
)
def test_an_archive_that_leads_outside_changes_nothing(
    place: Path, members: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    workspace = filled(place)
    (place / "outside" / "secret").write_text("secret")
    before = tree(workspace)
    forged(place, *members)

    with pytest.raises((ArchiveError, OSError)):
        do(place, "unpack", "forged")

    assert tree(workspace) == before
    assert os.listdir(place / "outside") == ["secret"]


def test_unpacking_sets_no_special_bits_and_makes_no_devices(place: Path) -> None:
    forged(place, (member("program"), b"x"), (member("null", tarfile.CHRTYPE), b""))
    do(place, "unpack", "forged")

    assert os.listdir(place / "workspace") == ["program"]
    assert (place / "workspace" / "program").stat().st_mode & 0o7777 == 0o777


def test_a_cut_or_missing_archive_changes_nothing(place: Path) -> None:
    workspace = filled(place)
    do(place, "pack")
    whole = (place / "archives" / "one.tar.gz").read_bytes()
    (place / "archives" / "one.tar.gz").write_bytes(whole[: len(whole) // 2])
    before = tree(workspace)

    with pytest.raises((EOFError, tarfile.TarError)):
        do(place, "unpack")
    with pytest.raises(ArchiveError, match="gone"):
        do(place, "unpack", "never")

    assert tree(workspace) == before


class KilledError(Exception):
    pass


def test_an_exchange_killed_at_any_step_is_brought_to_one_end_by_mending(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every rename and removal is a moment to die at; afterwards there are the old files or the new ones, whole."""
    rename, rmtree = os.rename, unpacking.remove_tree
    outcomes: set[str] = set()
    for moment in range(40):
        workspace = place / f"workspace{moment}"
        workspace.mkdir()
        for name in ("a", "b", "c"):
            (workspace / name).write_text("new")
        packed = place / "archives" / "w.tar.gz"
        pack(workspace, packed, Counted(1000, 100))
        for name in ("b", "c", "d"):
            (workspace / name).write_text("old")
        (workspace / "a").unlink()
        left = moment

        def dying(left: int = left) -> None:
            nonlocal steps
            steps += 1
            if steps > left:
                raise KilledError

        steps = 0

        def dying_rename(source: Path, target: Path, **folders: int) -> None:
            dying()
            rename(source, target, **folders)

        def dying_rmtree(folder: Path) -> None:
            dying()
            rmtree(folder)

        with monkeypatch.context() as patched:
            patched.setattr(os, "rename", dying_rename)
            patched.setattr(unpacking, "remove_tree", dying_rmtree)
            try:
                unpack(workspace, packed, Counted(1000, 100))
                survived = True
            except KilledError:
                survived = False
        mend(workspace, place / "archives")
        now = {path.name: path.read_text() for path in workspace.iterdir()}
        assert now in ({"a": "new", "b": "new", "c": "new"}, {"b": "old", "c": "old", "d": "old"})
        assert os.listdir(place / "archives") == ["w.tar.gz"]
        outcomes.add("survived" if survived else "killed")
    assert outcomes == {"survived", "killed"}


def test_mending_follows_no_link_and_leaves_a_whole_workspace_alone(place: Path) -> None:
    workspace = filled(place)
    before = tree(workspace)
    (place / "outside" / "complete").touch()
    (workspace / STAGE).symlink_to(place / "outside")

    do(place, "mend")

    assert tree(workspace) == before
    assert os.listdir(place / "outside") == ["complete"]


def folder_of(stage: Path, *files: str) -> None:
    for name in files:
        (stage / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).touch()


def linked(stage: Path) -> None:
    folder_of(stage, "emptied")
    (stage / "new").symlink_to(stage.parents[1] / "outside")
    (stage / "old").symlink_to(stage.parents[1] / "outside")


LEFT: dict[str, Callable[[Path], object]] = {
    "a file": lambda stage: stage.touch(),
    "a pipe": lambda stage: os.mkfifo(stage),
    "a link to nowhere": lambda stage: stage.symlink_to("nowhere"),
    "emptied, nothing new": lambda stage: folder_of(stage, "emptied"),
    "a file for what is new": lambda stage: folder_of(stage, "emptied", "new"),
    "a file for what is old": lambda stage: folder_of(stage, "complete", "old"),
    "old and new in each other's way": lambda stage: folder_of(stage, "complete", "new/run.sh/x", "old/run.sh/x"),
    "a folder for a mark": lambda stage: folder_of(stage, "emptied/x", "new/x"),
    "links that lead outside": linked,
    "the system's own": lambda stage: folder_of(stage, "emptied", "new/.agent/x", "new/.transcripts/x"),
    "another exchange, to all appearances": lambda stage: folder_of(stage, "complete", "new/mine"),
}


@pytest.mark.parametrize("left", LEFT)
def test_nothing_a_sandbox_leaves_in_the_stages_place_is_believed(place: Path, left: str) -> None:
    workspace = filled(place)
    before = tree(workspace)
    (place / "outside" / "x").touch()
    do(place, "pack")
    LEFT[left](workspace / STAGE)

    do(place, "mend")

    assert tree(workspace) == before
    (workspace / "later").touch()
    LEFT[left](workspace / STAGE)

    do(place, "unpack")

    assert tree(workspace) == before
    assert os.listdir(place / "outside") == ["x"]
    assert os.listdir(place / "archives") == ["one.tar.gz"]


def test_a_mark_whose_files_are_gone_is_given_up(place: Path) -> None:
    workspace = filled(place)
    before = tree(workspace)
    for mark in (unpacking._COMPLETE, unpacking._EMPTIED):
        (place / "archives" / mark).touch()

        do(place, "mend")

        assert tree(workspace) == before
        assert os.listdir(place / "archives") == []


@pytest.fixture
def own_place() -> Iterator[Path]:
    """A place, while this process has none of root's rights over files."""
    own, nobody = os.geteuid(), 65534
    with tempfile.TemporaryDirectory() as folder:
        if own == 0:
            os.chown(folder, nobody, nobody)
            os.seteuid(nobody)
        try:
            for name in ("workspace", "archives"):
                Path(folder, name).mkdir()
            yield Path(folder)
        finally:
            os.seteuid(own)


@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_a_workspace_its_owner_has_shut_is_opened_and_folders_keep_their_modes(own_place: Path, mode: int) -> None:
    """Run by an ordinary user, who may not move a folder that is closed to them."""
    workspace = filled(own_place)
    before = tree(workspace)
    do(own_place, "pack")
    (workspace / "run.sh").unlink()
    workspace.chmod(mode)

    do(own_place, "unpack")

    assert workspace.stat().st_mode & 0o777 == 0o700
    assert tree(workspace) == before
    (workspace / "deep").chmod(0o700)  # or this user could not remove it


@pytest.mark.parametrize(("depth", "name"), [(1_200, "d"), (40, "d" * 255)])
def test_a_tree_deeper_than_any_stack_or_path_goes_when_a_snapshot_is_brought_back(
    place: Path, depth: int, name: str
) -> None:
    workspace = place / "workspace"
    (workspace / "kept").write_text("x")
    do(place, "pack")
    nest(workspace, depth, name)
    (workspace / STAGE).mkdir()
    nest(workspace / STAGE, depth, name)

    do(place, "unpack")

    assert os.listdir(workspace) == ["kept"]


def test_what_is_too_deep_or_has_too_many_names_is_refused(place: Path) -> None:
    nest(place / "workspace", 300, "d")
    with pytest.raises(ArchiveError, match="deeper"):
        do(place, "pack")
    for number in range(50):
        (place / "workspace" / f"a{number}").touch()
    with pytest.raises(ArchiveError, match="more than 10 files"):
        do(place, "pack", bounds=["1000000", "10"])

    assert os.listdir(place / "archives") == []


@pytest.mark.parametrize("name", ["../one", "/one", "..", "a/b", "a.b", ""])
def test_a_snapshot_has_a_plain_name(place: Path, name: str) -> None:
    (place / "workspace" / "kept").write_text("x")
    for verb in ("pack", "unpack", "drop", "mend"):
        with pytest.raises(ArchiveError):
            do(place, verb, name)


DEEP = 190
"""Folders of 250 letters below each other: each file's path has 48 KB."""
PEAK = """
import resource, subprocess, sys
print(subprocess.run([sys.executable, *sys.argv[1:]], capture_output=True, text=True, check=True).stdout.strip())
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def files_at_the_end_of(workspace: Path, count: int) -> None:
    at = os.open(workspace, FOLDER)
    for _ in range(DEEP):
        os.mkdir("d" * 250, dir_fd=at)
        inner = os.open("d" * 250, FOLDER, dir_fd=at)
        os.close(at)
        at = inner
    for number in range(count):
        os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=at))
    os.close(at)


def peak_mib(place: Path, verb: str) -> tuple[str, int]:
    """What the program says, and the most memory it had."""
    most = ArchiveBounds(max_bytes=10**9)
    words = archiving.arguments(verb, str(place / "workspace"), str(place / "archives"), "one", most)
    done = subprocess.run(
        [sys.executable, "-I", "-c", PEAK, *words], capture_output=True, text=True, check=True, timeout=120
    )
    told, peak = done.stdout.splitlines()
    return told, int(peak)


def test_paths_take_no_memory_however_long_and_many(place: Path) -> None:
    files_at_the_end_of(place / "workspace", 1_000)
    for verb in ("pack", "unpack"):
        told, peak = peak_mib(place, verb)
        assert "code" not in archiving.answer(told)
        assert peak < 40, verb


def test_paths_are_bounded_all_together(place: Path) -> None:
    workspace = place / "workspace"
    files_at_the_end_of(workspace, 6_000)
    told, peak = peak_mib(place, "pack")
    with pytest.raises(SnapshotRefusedError, match="paths are too long"):
        archiving.answer(told)
    assert peak < 40
    assert os.listdir(place / "archives") == []


def test_paths_that_links_lead_to_count_too(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_PATH_BYTES", 20_000)
    workspace = place / "workspace"
    for number in range(10):
        (workspace / f"soft{number}").symlink_to("x/" * 500)
    do(place, "pack")
    for number in range(10):
        (workspace / f"more{number}").symlink_to("x/" * 500)
    with pytest.raises(ArchiveError, match="paths are too long"):
        do(place, "pack")


def test_what_is_remembered_of_files_with_several_names_is_bounded(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_REMEMBERED_BYTES", 20_000)
    for number in range(60):
        (place / "workspace" / f"a{number}").touch()
    do(place, "pack")
    for number in range(60):
        os.link(place / "workspace" / f"a{number}", place / "workspace" / f"b{number}")
    with pytest.raises(ArchiveError, match="long names"):
        do(place, "pack")


def test_a_program_that_runs_out_of_memory_says_so_in_words(place: Path) -> None:
    """Its own limit holds whatever its bounds have missed."""
    (place / "workspace" / "kept").write_text("x")
    source = archiving.PROGRAM.replace("module.main()", "")
    source += f"""
def greedy(*_):
    return bytearray({bounds.MEMORY_BYTES})
sys.modules[{program.__name__!r}].pack = greedy
module.main()
"""
    words = ["pack", str(place / "workspace"), str(place / "archives"), "one", "1000", "100"]
    told = subprocess.run([sys.executable, "-I", "-c", source, *words], capture_output=True, text=True, check=True)
    with pytest.raises(SnapshotRefusedError, match="too many"):
        archiving.answer(told.stdout)
