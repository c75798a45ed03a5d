"""Files get names on disks that give a file only one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tool_api.files.placement import place_beside


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Of a disk without hard links, with a file on its way."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / ".1.part").write_text("new")
    folder = os.open(tmp_path, os.O_RDONLY)
    yield folder
    os.close(folder)


def test_a_file_is_placed_without_replacing_one(tmp_path: Path, folder: int) -> None:
    (tmp_path / "a.txt").write_text("as it was")
    assert place_beside(folder, [(".1.part", "a.txt")]) == [("a (2).txt", True)]
    assert sorted(os.listdir(tmp_path)) == ["a (2).txt", "a.txt"]
    assert (tmp_path / "a (2).txt").read_text() == "new"


def test_a_file_that_can_not_be_placed_leaves_no_empty_one(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="No space left"):
        place_beside(folder, [(".1.part", "a.txt")])
    assert os.listdir(tmp_path) == [".1.part"]
