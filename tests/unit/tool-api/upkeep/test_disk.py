from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from service_kit.tree_size import TreeSize
from tool_api.errors import DiskFullError
from tool_api.upkeep.disk import DiskWatch

LIMIT = 1_000_000


async def seen_full(watch: DiskWatch) -> None:
    """As the sandbox does for ever: until it was found full."""
    found = asyncio.Event()

    async def on_full(goes_on: bool) -> None:
        del goes_on
        found.set()

    watching = asyncio.create_task(watch.watch(on_full))
    try:
        await asyncio.wait_for(found.wait(), 10)
    finally:
        watching.cancel()
        await asyncio.wait({watching})


async def test_bytes_of_a_deleted_file_that_was_let_go_are_free_at_once(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, LIMIT)
    with (tmp_path / "held").open("wb") as held:
        held.write(b"x" * 2 * LIMIT)
        held.flush()
        (tmp_path / "held").unlink()
        await seen_full(watch)
        with pytest.raises(DiskFullError):
            await watch.demand(1000)
    await watch.demand(1000)


async def test_nothing_is_refused_for_what_was_there_a_moment_ago(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / str(number)).mkdir()
    watch = DiskWatch(tmp_path, 4 * LIMIT)
    for _ in range(20):
        (tmp_path / "big").write_bytes(b"x" * 4 * LIMIT)
        with pytest.raises(DiskFullError):
            await watch.demand(4 * LIMIT)
        (tmp_path / "big").unlink()
        await watch.demand(2 * LIMIT)


async def test_many_who_ask_at_once_share_a_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "big").write_bytes(b"x" * 2 * LIMIT)
    watch = DiskWatch(tmp_path, LIMIT)
    await watch.room()
    looks = 0
    plain = watch._count  # pyright: ignore[reportPrivateUsage]

    def counted() -> object:
        nonlocal looks
        looks += 1
        return plain()

    monkeypatch.setattr(watch, "_count", counted)
    answers = await asyncio.gather(*(watch.demand(10) for _ in range(50)), return_exceptions=True)
    assert all(isinstance(answer, DiskFullError) for answer in answers)
    assert looks <= 2


async def test_a_look_that_fails_is_not_the_last_one(tmp_path: Path) -> None:
    watch, failed, found = DiskWatch(tmp_path, LIMIT), asyncio.Event(), asyncio.Event()

    async def on_full(goes_on: bool) -> None:
        del goes_on
        if not failed.is_set():
            failed.set()
            raise RuntimeError("can't start new thread")
        found.set()

    (tmp_path / "big").write_bytes(b"x" * 2 * LIMIT)
    watching = asyncio.create_task(watch.watch(on_full, look_s=0, tick_s=0.01))
    try:
        await asyncio.wait_for(failed.wait(), 10)
        (tmp_path / "bigger").write_bytes(b"x" * 2 * LIMIT)
        await asyncio.wait_for(found.wait(), 10)
    finally:
        watching.cancel()
        await asyncio.wait({watching})


async def test_what_was_written_since_the_last_look_counts_before_the_next_command(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, LIMIT)
    assert (await watch.write_bound()).file_bytes == LIMIT
    (tmp_path / "big").write_bytes(b"x" * 2 * LIMIT)
    assert (await watch.write_bound()).is_full
    (tmp_path / "big").unlink()
    assert (await watch.write_bound()).file_bytes == LIMIT


async def test_a_large_file_may_grow_while_there_is_room(tmp_path: Path) -> None:
    large = 300 * LIMIT
    with (tmp_path / "large").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, large)
    bound = await DiskWatch(tmp_path, 2 * large).write_bound()
    assert bound.file_bytes is not None
    assert large < bound.file_bytes <= 2 * large


async def test_processes_are_not_looked_through_before_each_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = DiskWatch(tmp_path, 1 << 40)
    looks = 0
    plain = watch._count_deleted  # pyright: ignore[reportPrivateUsage]

    def counted() -> TreeSize:
        nonlocal looks
        looks += 1
        return plain()

    monkeypatch.setattr(watch, "_count_deleted", counted)
    for _ in range(5):
        await watch.write_bound()
        # Each count is too old for the next command.
        watch._looked_at = float("-inf")  # pyright: ignore[reportPrivateUsage]
    assert looks == 1


async def test_deleted_files_that_are_held_open_count_before_the_next_command(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, 8 * LIMIT)
    await watch.write_bound()
    with (tmp_path / "held").open("wb") as held:
        held.write(b"x" * 6 * LIMIT)
        held.flush()
        os.fsync(held.fileno())
        (tmp_path / "held").unlink()
        bound = (await watch.write_bound()).file_bytes
    assert bound is not None
    assert bound < 3 * LIMIT


async def test_without_a_limit_nothing_is_counted_and_nothing_bounded(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, 0)
    assert (await watch.write_bound()).file_bytes is None
    assert watch.used_bytes is None


async def test_sparse_bytes_do_not_count_and_names_of_one_file_count_once(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    with (tmp_path / ".hidden/sparse").open("wb") as file:
        file.truncate(100 * LIMIT)
    (tmp_path / "one").write_bytes(b"x" * (LIMIT // 2))
    for number in range(5):
        (tmp_path / f"name{number}").hardlink_to(tmp_path / "one")
    watch = DiskWatch(tmp_path, LIMIT)
    bound = await watch.write_bound()
    assert bound.file_bytes is not None
    assert LIMIT // 4 < bound.file_bytes <= LIMIT // 2
