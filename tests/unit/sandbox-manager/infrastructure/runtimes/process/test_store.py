from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from sandbox_manager.domain.errors import StartFailedError
from sandbox_manager.infrastructure.runtimes.process.store import Store


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a manager that runs as root, as far as its store can tell."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "chown", lambda *_: None)
    return tmp_path / "data"


def given(folder: Path) -> list[str]:
    return os.listdir(folder / "uids")


def make_old(folder: Path) -> None:
    for name in given(folder):
        os.utime(folder / "uids" / name, (time.time() - 7200,) * 2)


def test_a_workspace_that_vanishes_during_a_start_neither_fails_it_nor_frees_the_uids_of_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, scandir = Store(folder, "test"), os.scandir
    for name in ("first", "second"):
        store.make_workspace(name)
    make_old(folder)

    @contextlib.contextmanager
    def racing(place: Path) -> Generator[Iterator[os.DirEntry[str]]]:
        with scandir(place) as entries:
            found = list(entries)
        if place.name == "workspaces":
            (place / "first").rename(place / "renamed")
        yield iter(found)

    monkeypatch.setattr(os, "scandir", racing)
    store.free_unused_uids()
    monkeypatch.undo()

    assert len(given(folder)) == 2


def test_uids_that_were_left_given_are_free_after_a_start(folder: Path) -> None:
    store = Store(folder, "test")
    store.make_workspace("first")
    make_old(folder)

    store.free_unused_uids()

    assert given(folder) == [], "the workspace is owned by somebody else here"


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to another user")
def test_a_workspace_of_another_user_of_the_host_is_refused_with_words_and_left_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "data", "test")
    workspace = store.workspace("first")
    workspace.mkdir()
    os.chown(workspace, 1000, 1000)

    with pytest.raises(StartFailedError, match="belongs to user 1000 of this host") as refused:
        store.make_workspace("first")

    assert not refused.value.retryable
    assert workspace.stat().st_uid == 1000
    assert given(tmp_path / "data") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to another user")
def test_a_workspace_whose_making_was_cut_off_gets_its_owner(tmp_path: Path) -> None:
    store = Store(tmp_path / "data", "test")
    workspace = store.workspace("first")
    workspace.mkdir()

    uid = store.make_workspace("first")

    assert workspace.stat().st_uid == uid
    assert store.make_workspace("first") == uid
