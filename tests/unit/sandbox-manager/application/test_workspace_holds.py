"""Whoever no longer holds a workspace for sure stops working at its files."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.errors import EngineUnavailableError, RegistryUnavailableError
from sandbox_manager.domain.workspace import Work, WorkKind, Workspace
from sandbox_manager.infrastructure.memory.workspaces import MemoryWorkspaces
from support.manager_harness import ManagerHarness

WHO = ("s1", "u1")
PATIENT_S = 10


class Records(MemoryWorkspaces):
    """Away once it is told to be."""

    is_away = False

    async def get(self, session_id: str) -> Workspace | None:
        if self.is_away:
            raise RegistryUnavailableError("Away.")
        return await super().get(session_id)


@dataclass
class Holding:
    """A manager that restores files, and is at it until `done` is set."""

    lease: timedelta = timedelta(seconds=60)
    records: Records = field(default_factory=Records)
    at_work: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    was_cut: bool = False

    def __post_init__(self) -> None:
        manager = ManagerHarness()
        self.archives, self.clock = manager.runtime.archives, manager.clock
        self.work = WorkspaceWork(
            self.records, self.archives, self.clock, "manager-1", lease=self.lease, heartbeat_s=0.01
        )

    async def restore(self) -> None:
        async with self.work.hold(*WHO, WorkKind.RESTORE, "x"):
            self.at_work.set()
            try:
                await self.done.wait()
            except asyncio.CancelledError:
                self.was_cut = True
                raise


@pytest.mark.parametrize("is_done", [False, True], ids=["it is at work", "it is done already"])
async def test_work_that_another_manager_took_over_is_cut_and_not_mended_here(is_done: bool) -> None:
    holding = Holding()
    restoring = asyncio.create_task(holding.restore())
    await holding.at_work.wait()
    known = await holding.work.get(*WHO)
    other = None
    if not is_done:
        other = Work(kind=WorkKind.RESTORE, snapshot_id="x", owner="manager-2/mend", until=holding.clock.now())
    assert await holding.records.save(replace(known, work=other))

    with pytest.raises(EngineUnavailableError, match="taken over"):
        async with asyncio.timeout(PATIENT_S):
            await restoring

    assert holding.was_cut
    assert holding.archives.mended == []
    after = await holding.work.get(*WHO)
    assert (after.work, after.version) == (other, known.version + 1)


async def test_work_that_can_not_be_renewed_is_cut_before_another_manager_may_have_it() -> None:
    holding = Holding(timedelta(seconds=0.2))
    restoring = asyncio.create_task(holding.restore())
    await holding.at_work.wait()
    holding.records.is_away = True
    with pytest.raises(EngineUnavailableError, match="taken over"):
        async with asyncio.timeout(PATIENT_S):
            await restoring
    assert holding.was_cut
    assert holding.archives.mended == []
    holding.records.is_away = False
    assert (await holding.work.get(*WHO)).work is not None


async def test_work_that_is_renewed_may_take_longer_than_its_lease() -> None:
    holding = Holding(timedelta(seconds=0.2))
    restoring = asyncio.create_task(holding.restore())
    await holding.at_work.wait()
    before = (await holding.work.get(*WHO)).version
    async with asyncio.timeout(PATIENT_S):
        while (await holding.work.get(*WHO)).version < before + 40:
            await asyncio.sleep(0.01)
    holding.done.set()
    await restoring
    assert not holding.was_cut
    assert (await holding.work.get(*WHO)).work is None


async def test_a_caller_that_goes_away_has_its_restore_mended_as_before() -> None:
    holding = Holding()
    restoring = asyncio.create_task(holding.restore())
    await holding.at_work.wait()
    restoring.cancel()
    await asyncio.wait({restoring}, timeout=PATIENT_S)
    assert restoring.cancelled()
    assert holding.archives.mended == ["s1"]
    assert (await holding.work.get(*WHO)).work is None
