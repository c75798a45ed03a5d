"""Trees as hostile code leaves them, removed; run by root and, as root's rights hide much, by an ordinary user too."""

from __future__ import annotations

import os
import random
import stat
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox_manager.domain.identifiers import InvalidIdentifierError
from sandbox_manager.infrastructure.runtimes.archive.bounds import FOLDER
from sandbox_manager.infrastructure.runtimes.archive.removal import empty
from sandbox_manager.infrastructure.runtimes.process.disposal import Disposal
from sandbox_manager.infrastructure.runtimes.process.store import Store
from support.nested_folders import nest

LONG = "d" * 255


@pytest.fixture
def ordinary(folder: Path) -> Generator[None]:
    """The rights of somebody who owns nothing but what is made meanwhile."""
    assert not folder.exists()
    if os.geteuid() == 0:
        os.setegid(64_321)
        os.seteuid(64_321)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)
    else:
        yield


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sandboxes")
    for one in (place, place.parent, place.parent.parent):
        one.chmod(0o777)
    return place / "data"


def left(folder: Path) -> list[str]:
    return [name for kind in ("workspaces", "archives", "live", "gone") for name in os.listdir(folder / kind)]


@pytest.mark.parametrize(("depth", "name"), [(1_200, "d"), (40, LONG)])
def test_folders_nested_deeper_than_any_path_or_stack_go(folder: Path, depth: int, name: str) -> None:
    store = Store(folder, "test")
    store.make_workspace("s1")
    nest(store.workspace("s1"), depth, name)

    store.remove_workspace("s1")

    assert left(folder) == []


@pytest.mark.usefixtures("ordinary")
def test_what_was_made_unreadable_by_its_owner_goes(folder: Path) -> None:
    store = Store(folder, "test")
    store.make_workspace("s1")
    workspace = store.workspace("s1")
    for name in ("a", "b"):
        (workspace / name / "inner" / "most").mkdir(parents=True)
        (workspace / name / "inner" / "file").write_text("x")
        for path in (workspace / name / "inner" / "most", workspace / name / "inner", workspace / name):
            path.chmod(0)
    workspace.chmod(0)

    store.remove_workspace("s1")

    assert left(folder) == []


def test_links_are_removed_and_never_followed(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (victim / "kept").mkdir(parents=True)
    (victim / "kept" / "file").write_text("x")
    store = Store(folder, "test")
    store.make_workspace("s1")
    for name, target in (("a", victim), ("b", victim / "kept"), ("c", Path("/")), ("..d", Path(".."))):
        (store.workspace("s1") / name).symlink_to(target)
    store.make_workspace("s2")
    store.workspace("s2").rmdir()
    store.workspace("s2").symlink_to(victim)

    for session_id in ("s1", "s2"):
        store.remove_workspace(session_id)

    assert (victim / "kept" / "file").read_text() == "x"
    assert left(folder) == []


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../live", "/etc", "pool...", "a\0"])
def test_what_is_no_name_is_removed_nowhere(folder: Path, name: str) -> None:
    store = Store(folder, "test")
    store.make_workspace("victim")

    for call in (store.remove_workspace, store.workspace, store.archives, store.live):
        with pytest.raises(InvalidIdentifierError):
            call(name)

    assert store.workspace("victim").is_dir()


def test_somebody_who_still_writes_can_neither_save_a_tree_nor_lead_out_of_it(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("x")
    store = Store(folder, "test")
    store.make_workspace("s1")
    at, stopping = os.open(store.workspace("s1"), FOLDER), threading.Event()

    def write() -> None:
        chance = random.Random(7)
        until = time.monotonic() + 1.0
        while time.monotonic() < until and not stopping.is_set():
            name, other = (str(chance.randrange(20)) for _ in range(2))
            for act in (
                lambda name=name: os.mkdir(name, dir_fd=at),
                lambda name=name, other=other: os.rename(name, f"x{other}", src_dir_fd=at, dst_dir_fd=at),
                lambda other=other: os.symlink(victim, other, dir_fd=at),
                lambda name=name, other=other: os.mkdir(f"{name}/{other}", dir_fd=at),
            ):
                try:
                    act()
                except OSError:
                    continue

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while writer.is_alive():
            try:
                store.remove_workspace("s1")
            except OSError:
                continue
    finally:
        stopping.set()
        writer.join()
        os.close(at)
    store.remove_workspace("s1")

    assert left(folder) == []
    assert (victim / "file").read_text() == "x"


def test_a_removal_that_is_cut_off_goes_on_with_the_next_call(folder: Path) -> None:
    freed: list[int] = []
    folder.mkdir()
    (folder / "workspaces").mkdir()
    disposal = Disposal(folder, freed.append)
    (folder / "workspaces" / "s1").mkdir()
    nest(folder / "workspaces" / "s1", 50, "d")

    with pytest.raises(TimeoutError):
        disposal.remove("workspaces", "s1", time.monotonic() - 1)
    assert os.listdir(folder / "workspaces") == []
    assert freed == []

    disposal.carry_on(30)
    assert os.listdir(folder / "gone") == []
    assert freed == [os.geteuid()]


def test_what_can_not_go_does_not_keep_the_rest_from_going(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "place"
    place.mkdir(parents=True)
    for name in ("a", "b", "c"):
        (place / name / "inner").mkdir(parents=True)
        (place / name / "inner" / f"file-{name}").write_text("x")
    unlink = os.unlink

    def failing(name: str, *, dir_fd: int) -> None:
        if name == "file-b":
            raise PermissionError(1, "immutable", name)
        unlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", failing)
    at = os.open(place, FOLDER)
    try:
        with pytest.raises(PermissionError):
            empty(at, "", time.monotonic() + 5)
    finally:
        os.close(at)

    assert [path.name for path in place.rglob("file*")] == ["file-b"]


names = st.one_of(
    st.binary(min_size=1, max_size=255).filter(lambda name: b"/" not in name and b"\0" not in name),
    st.sampled_from([b"...", b"-rf", b"\n", b" ", b"gone", b"workspaces:s1:0:x", LONG.encode()]),
).filter(lambda name: name not in (b".", b".."))
trees = st.recursive(
    st.sampled_from(["file", "link", "pipe"]), lambda inner: st.dictionaries(names, inner, max_size=4), max_leaves=25
)


def grow(at: int, tree: dict[bytes, object], modes: random.Random) -> None:
    for name, what in tree.items():
        if isinstance(what, dict):
            os.mkdir(name, dir_fd=at)
            inner = os.open(name, FOLDER, dir_fd=at)
            grow(inner, what, modes)
            os.fchmod(inner, modes.choice([0o000, 0o111, 0o500, 0o700]))
            os.close(inner)
        elif what == "link":
            os.symlink(modes.choice(["/etc", "..", "nowhere"]), name, dir_fd=at)
        elif what == "pipe":
            os.mkfifo(name, dir_fd=at)
        else:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, stat.S_IRUSR, dir_fd=at))


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(tree=st.dictionaries(names, trees, max_size=5), seed=st.integers(0, 1000))
def test_no_tree_stays(folder: Path, tree: dict[bytes, object], seed: int) -> None:
    if os.geteuid() == 0:
        os.seteuid(64_321)
    try:
        store = Store(folder, "test")
        store.make_workspace("s1")
        at = os.open(store.workspace("s1"), FOLDER)
        grow(at, tree, random.Random(seed))
        os.close(at)

        store.remove_workspace("s1")

        assert left(folder) == []
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
