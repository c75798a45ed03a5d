"""A user is told once that the files of a computer take up nearly all they may, and once that they do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox_manager.domain.disk import DiskLimit, Fill
from sandbox_manager.interfaces.http.to_wire import to_wire
from support.manager_harness import ManagerHarness

LIMIT = DiskLimit(1000)


@pytest.mark.parametrize(
    ("used", "before", "after"),
    [
        (799, Fill.FINE, Fill.FINE),
        (800, Fill.FINE, Fill.FILLING),
        (700, Fill.FILLING, Fill.FILLING),
        (699, Fill.FILLING, Fill.FINE),
        (5000, Fill.FINE, Fill.FULL),
        (900, Fill.FULL, Fill.FULL),
        (899, Fill.FULL, Fill.FILLING),
        (0, Fill.FULL, Fill.FINE),
        (-5, Fill.FINE, Fill.FINE),
    ],
)
def test_a_level_rises_at_once_and_falls_with_some_slack(used: int, before: Fill, after: Fill) -> None:
    assert LIMIT.fill(used, before) is after


def test_without_a_limit_nothing_is_ever_full() -> None:
    assert DiskLimit(0).fill(10**18, Fill.FINE) is Fill.FINE


async def test_a_sweep_tells_each_rise_once_as_a_change_of_the_sandbox() -> None:
    manager = ManagerHarness()
    sandbox = await manager.ready()
    keep_alive = replace(manager.keep_alive, disk=LIMIT)
    told: list[tuple[str, int]] = []
    for used in (100, 850, 870, 1001, 1200, 850, 400, 810):
        manager.runtime.disk_bytes = used
        sandbox = await keep_alive(sandbox)
        if sandbox.disk_notice and (sandbox.disk_notice, sandbox.disk_revision) not in told:
            assert sandbox.disk_revision == sandbox.revision
            told.append((sandbox.disk_notice, sandbox.disk_revision))
    assert ["over 80 %" in text for text, _ in told] == [True, False, True]
    assert await manager.registry.get(sandbox.id) == sandbox


async def test_what_is_told_says_how_full_and_of_how_much_so_that_others_may_say_it_in_their_language() -> None:
    manager = ManagerHarness()
    sandbox = await manager.ready()
    keep_alive = replace(manager.keep_alive, disk=DiskLimit(20 * 1024 * 1024))
    said: list[tuple[str | None, int]] = []
    for used_mb in (1, 17, 20, 1):
        manager.runtime.disk_bytes = used_mb * 1024 * 1024
        sandbox = await keep_alive(sandbox)
        wire = to_wire(sandbox)
        said.append((wire.disk_fill, wire.disk_limit_mb))
    assert said == [(None, 0), ("filling", 20), ("full", 20), (None, 20)]


async def test_files_without_number_are_told_as_bytes_are_but_of_their_own_limit() -> None:
    manager = ManagerHarness()
    sandbox = await manager.ready()
    keep_alive = replace(manager.keep_alive, disk=DiskLimit(20 * 1024 * 1024, 1000))
    said: list[str] = []
    for files in (10, 850, 1000, 10):
        manager.runtime.disk_bytes, manager.runtime.disk_files = 1024, files
        sandbox = await keep_alive(sandbox)
        wire = to_wire(sandbox)
        said.append(f"{wire.disk_notice} {wire.disk_fill}")
    assert ["files and folders" in text for text in said] == [False, True, True, False]
    assert said[1].endswith("None"), "the level is of bytes"
    assert "all of the 1,000" in said[2]
