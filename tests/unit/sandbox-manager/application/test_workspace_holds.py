"""Whoever no longer holds a workspace for sure stops working at its files."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.errors import EngineUnavailableError, RegistryUnavailableError
from sandbox_manager.domain.workspace import Work, WorkKind, Workspace
from sandbox_manager.infrastructure.runtimes.threads import threads
from support.manager_harness import ManagerHarness
from support.memory_manager.archives import FakeArchives
from support.memory_manager.workspaces import MemoryWorkspaces

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
    program: Callable[[], Awaitable[object]] | None = None

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
                await (self.program or self.done.wait)()
            except asyncio.CancelledError:
                self.was_cut = True
                raise

    async def renewed(self) -> None:
        """Return once its hold, lapsed or not, was renewed."""
        before = (await self.work.get(*WHO)).version
        async with asyncio.timeout(PATIENT_S):
            while (await self.work.get(*WHO)).version < before + 2:
                await asyncio.sleep(0.01)

    async def leave_lapsed(self) -> None:
        """What a manager that died, of a restore, leaves."""
        known = await self.work.get(*WHO)
        left = Work(kind=WorkKind.RESTORE, snapshot_id="x", owner="manager-0/x", until=self.clock.now())
        assert await self.records.save(replace(known, work=left))


class SlowArchives(FakeArchives):
    """Each mending ends when it is let."""

    def __init__(self) -> None:
        super().__init__({"s1"})
        self.let: list[asyncio.Event] = []

    async def mend(self, session_id: str, user_id: str) -> None:
        self.let.append(may_end := asyncio.Event())
        await may_end.wait()
        await super().mend(session_id, user_id)

    async def begun(self, count: int) -> None:
        async with asyncio.timeout(PATIENT_S):
            while len(self.let) < count:
                await asyncio.sleep(0.01)


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


async def test_a_program_that_goes_on_after_its_hold_may_have_lapsed_is_held_until_it_has_ended() -> None:
    """A cancelled caller waits for its thread, which is at the files meanwhile."""
    may_end = threading.Event()
    holding = Holding(timedelta(seconds=0.2))
    other = replace(holding.work, owner="manager-2")
    try:
        async with threads("test", 1) as pool:
            holding.program = lambda: pool.run_call(lambda: may_end.wait(PATIENT_S))
            restoring = asyncio.create_task(holding.restore())
            await holding.at_work.wait()
            holding.records.is_away = True
            async with asyncio.timeout(PATIENT_S):
                while not restoring.cancelling():
                    await asyncio.sleep(0.01)
            holding.records.is_away = False

            for _ in range(3):
                holding.clock.move(holding.lease)
                await holding.renewed()
                await other.settle(*WHO)
            assert holding.archives.mended == []
            assert not restoring.done()

            may_end.set()
            with pytest.raises(EngineUnavailableError, match="taken over"):
                async with asyncio.timeout(PATIENT_S):
                    await restoring
    finally:
        may_end.set()
    assert holding.was_cut
    holding.clock.move(holding.lease)
    await other.settle(*WHO)
    assert holding.archives.mended == ["s1"]
    assert (await holding.work.get(*WHO)).work is None


async def test_renewing_outlives_whatever_the_registry_raises() -> None:
    class Odd(Records):
        is_odd = False

        async def save(self, workspace: Workspace) -> bool:
            if self.is_odd:
                self.is_odd = False
                raise ValueError("Nobody knows this one.")
            return await super().save(workspace)

    holding = Holding(records=(records := Odd()))
    restoring = asyncio.create_task(holding.restore())
    await holding.at_work.wait()
    records.is_odd = True
    async with asyncio.timeout(PATIENT_S):
        while records.is_odd:
            await asyncio.sleep(0.01)
    await holding.renewed()
    holding.done.set()
    await restoring


async def test_mending_that_takes_longer_than_a_lease_is_begun_once() -> None:
    holding = Holding()
    archives = SlowArchives()
    first = replace(holding.work, archives=archives)
    await holding.leave_lapsed()
    mending = asyncio.create_task(first.settle(*WHO))
    await archives.begun(1)

    for _ in range(3):
        holding.clock.move(holding.lease)
        await holding.renewed()
        for sweeping in (first, replace(first, owner="manager-2")):
            await sweeping.settle(*WHO)
    assert len(archives.let) == 1

    archives.let[0].set()
    await mending
    assert archives.mended == ["s1"]
    assert (await holding.work.get(*WHO)).work is None


async def test_mending_that_was_taken_over_ends_no_later_mending_of_the_same_manager() -> None:
    holding = Holding()
    archives = SlowArchives()
    work = replace(holding.work, archives=archives)
    await holding.leave_lapsed()
    first = asyncio.create_task(work.settle(*WHO))
    await archives.begun(1)
    await holding.leave_lapsed()
    second = asyncio.create_task(work.settle(*WHO))
    await archives.begun(2)

    archives.let[0].set()
    await asyncio.wait({first}, timeout=PATIENT_S)
    assert first.done()
    held = (await holding.work.get(*WHO)).work
    assert held is not None

    archives.let[1].set()
    await second
    assert (await holding.work.get(*WHO)).work is None
    with pytest.raises(EngineUnavailableError, match="taken over"):
        await first
