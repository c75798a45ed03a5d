from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process import uids
from sandbox_manager.infrastructure.runtimes.process.uids import Uids, is_sandbox_uid


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "uids").mkdir()
    return tmp_path


def test_more_are_given_than_one_block_has_and_none_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An install ended at its thousandth workspace."""
    monkeypatch.setattr(uids, "_BLOCK", 128)
    ids = Uids(folder)
    given = [ids.give() for _ in range(1_100)]

    assert len(set(given)) == 1_100
    assert all(is_sandbox_uid(one) for one in given)


def test_none_is_anybodys_by_convention(folder: Path) -> None:
    uid = Uids(folder).give()

    assert uid > 600_100_000, "subordinate ids are given up to there"
    assert uid > 1_879_048_191, "containers are given ids up to there"
    assert uid < 2**31, "more is negative to some programs"
    assert not is_sandbox_uid(0)
    assert not is_sandbox_uid(1000)
    assert not is_sandbox_uid(65_534)


def test_what_this_hosts_users_have_is_passed_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Uids(folder).give()
    taken = [range(first - 20_000, first + 20_000)]

    monkeypatch.setattr(uids, "_ids_in_use", lambda: taken)
    given = [Uids(folder).give() for _ in range(50)]

    assert not any(one in taken[0] for one in given)


def test_subordinate_ids_are_read_whatever_else_the_files_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/etc/subuid": "a:100000:65536\n# words\nb:x:1\n:::\n", "/etc/passwd": "x:x:4242:1::/:/bin/sh\nbroken\n"}

    def numbers(file: str, fields: tuple[int, ...]) -> Iterator[dict[int, int]]:
        place = tmp_path / Path(file).name
        place.write_text(files.get(file, ""))
        yield from read(str(place), fields)

    read = uids._numbers
    monkeypatch.setattr(uids, "_numbers", numbers)

    assert uids._ids_in_use() == [range(100_000, 165_536), range(4242, 4243)]


def test_folders_begin_with_blocks_of_their_own(tmp_path: Path) -> None:
    given: set[int] = set()
    for name in ("one", "two", "three"):
        (tmp_path / name / "uids").mkdir(parents=True)
        given.add(Uids(tmp_path / name).give() // 16_384)

    assert len(given) >= 2


def test_what_no_workspace_has_is_given_back_once_it_is_old(folder: Path) -> None:
    ids = Uids(folder)
    used, unused, fresh = (ids.give() for _ in range(3))
    for one in (used, unused):
        os.utime(folder / "uids" / str(one), (time.time() - 7200,) * 2)

    ids.free_unused({used})

    assert sorted(int(name) for name in os.listdir(folder / "uids")) == sorted([used, fresh])


def test_one_that_was_given_before_is_kept_and_given_to_nobody_else(folder: Path) -> None:
    ids = Uids(folder)
    assert ids.keep(200_123)
    assert os.listdir(folder / "uids") == ["200123"]
    assert not ids.keep(1000)
    ids.free(200_123)
    assert os.listdir(folder / "uids") == []
