from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from sandbox_manager.application.delete_snapshot import DeleteSnapshot
from sandbox_manager.application.remove_workspace import RemoveWorkspace
from sandbox_manager.application.restore_snapshot import RestoreSnapshot
from sandbox_manager.application.take_snapshot import SnapshotLimits, TakeSnapshot
from sandbox_manager.application.tend_workspaces import TendWorkspaces
from sandbox_manager.application.workspace_work import WORK_LEASE, WorkspaceWork
from sandbox_manager.domain.errors import ElsewhereError, EngineUnavailableError, NotFoundError
from sandbox_manager.domain.sandbox import Status
from sandbox_manager.domain.workspace import (
    ArchiveBounds,
    SnapshotLimitError,
    SnapshotNotFoundError,
    SnapshotRefusedError,
    Work,
    WorkKind,
    Workspace,
    WorkspaceBusyError,
)
from support.manager_harness import ManagerHarness
from support.memory_manager.workspaces import MemoryWorkspaces

WHO = ("s1", "u1")
BOUNDS = ArchiveBounds(max_bytes=100)


@dataclass
class Files:
    """The use cases of workspaces over a manager in memory."""

    manager: ManagerHarness = field(default_factory=ManagerHarness)
    records: MemoryWorkspaces = field(default_factory=MemoryWorkspaces)
    delay: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        self.archives = self.manager.runtime.archives
        self.work = WorkspaceWork(self.records, self.archives, self.manager.clock, "manager-1")
        self.take = TakeSnapshot(self.work, SnapshotLimits(max_count=2, max_bytes=12, bounds=BOUNDS))
        self.restore = RestoreSnapshot(self.work, self.manager.registry, self.manager.delete, BOUNDS)
        self.delete = DeleteSnapshot(self.work)
        runtime, registry = self.manager.runtime, self.manager.registry
        self.remove = RemoveWorkspace(self.work, registry, self.manager.delete, self.delay, runtime.place)
        self.tend = TendWorkspaces(self.work, self.remove)
        self.archives.files["s1"] = "first"

    async def names(self) -> list[str]:
        return [one.name for one in (await self.work.get(*WHO)).snapshots]

    async def hold(self, kind: WorkKind, *, lapsed: bool = False) -> None:
        """What another manager left or does."""
        until = self.manager.clock.now() + (-WORK_LEASE if lapsed else WORK_LEASE)
        known = await self.work.get(*WHO)
        other = Work(kind=kind, snapshot_id="x", owner="manager-2", until=until)
        assert await self.records.save(replace(known, work=other))


async def test_a_snapshot_is_taken_while_the_sandbox_runs_and_brought_back_for_the_next_one() -> None:
    files = Files()
    sandbox = await files.manager.ready()
    taken = await files.take(*WHO, "before the change")
    assert (await files.manager.get(sandbox.id)).status is Status.READY
    files.archives.files["s1"] = "second"

    restored = await files.restore(*WHO, taken.id)

    assert restored.name == "before the change"
    assert files.archives.files["s1"] == "first"
    ended = await files.manager.get(sandbox.id)
    assert (ended.status, ended.occupied) == (Status.GONE, False)
    assert "restored" in (ended.reason or "")
    again = await files.manager.ready()
    assert again.identity.generation == 2
    assert (await files.work.get(*WHO)).work is None


async def test_count_and_bytes_are_bounded_and_nothing_is_left_of_one_too_many() -> None:
    files = Files()
    await files.take(*WHO, "one")
    files.archives.files["s1"] = "too much by"
    with pytest.raises(SnapshotLimitError, match="space"):
        await files.take(*WHO, "two")
    files.archives.files["s1"] = "ok"
    await files.take(*WHO, "two")
    with pytest.raises(SnapshotLimitError, match="2 snapshots"):
        await files.take(*WHO, "three")

    assert await files.names() == ["two", "one"]
    assert len(files.archives.kept) == 2


async def test_a_snapshot_given_up_makes_room() -> None:
    files = Files()
    first = await files.take(*WHO, "one")
    await files.take(*WHO, "two")

    await files.delete(*WHO, first.id)
    await files.delete(*WHO, first.id)
    await files.take(*WHO, "three")

    assert await files.names() == ["three", "two"]
    with pytest.raises(SnapshotNotFoundError):
        await files.restore(*WHO, first.id)


async def test_another_persons_workspace_does_not_exist() -> None:
    files = Files()
    taken = await files.take(*WHO, "mine")
    for call in (
        files.take("s1", "u2", "theirs"),
        files.restore("s1", "u2", taken.id),
        files.delete("s1", "u2", taken.id),
        files.remove("s1", "u2"),
    ):
        with pytest.raises(NotFoundError):
            await call
    assert await files.names() == ["mine"]


async def test_one_piece_of_work_at_a_time() -> None:
    files = Files()
    taken = await files.take(*WHO, "one")
    await files.hold(WorkKind.PACK)
    for call in (files.take(*WHO, "two"), files.restore(*WHO, taken.id), files.delete(*WHO, taken.id)):
        with pytest.raises(WorkspaceBusyError):
            await call


async def test_a_restore_that_fails_leaves_files_and_snapshots_and_lets_the_next_try() -> None:
    files = Files()
    taken = await files.take(*WHO, "one")
    files.archives.files["s1"] = "second"
    files.archives.fail = EngineUnavailableError("The engine is away.")
    with pytest.raises(EngineUnavailableError):
        await files.restore(*WHO, taken.id)
    assert files.archives.files["s1"] == "second"
    assert files.archives.mended == ["s1"]
    files.archives.fail = None

    await files.restore(*WHO, taken.id)

    assert files.archives.files["s1"] == "first"


async def test_an_empty_workspace_is_refused_and_stays_usable() -> None:
    files = Files()
    del files.archives.files["s1"]
    with pytest.raises(SnapshotRefusedError):
        await files.take(*WHO, "nothing")
    files.archives.files["s1"] = "some"
    await files.take(*WHO, "something")


async def test_work_of_a_manager_that_died_is_mended_by_whoever_comes_next() -> None:
    files = Files()
    await files.hold(WorkKind.RESTORE, lapsed=True)

    await files.take(*WHO, "after")

    assert files.archives.mended == ["s1"]
    assert await files.names() == ["after"]


async def test_a_sweep_mends_lapsed_work_and_removes_the_rest_of_a_snapshot_never_finished() -> None:
    files = Files()
    files.archives.kept["s1", "x"] = "half"
    await files.hold(WorkKind.PACK, lapsed=True)

    await files.tend()

    assert files.archives.kept == {}
    assert (await files.work.get(*WHO)).work is None


async def test_a_start_waits_for_a_restore_to_end_but_not_for_a_snapshot() -> None:
    files = Files()
    identity = (await files.manager.ready()).identity
    await files.hold(WorkKind.PACK)
    await files.work.ready_to_start(identity)
    await files.work.change(*WHO, lambda now: now.ended("manager-2"))
    await files.hold(WorkKind.RESTORE)
    starting = asyncio.create_task(files.work.ready_to_start(identity))
    await asyncio.wait({starting}, timeout=0.05)
    assert not starting.done()

    files.manager.clock.move(WORK_LEASE * 2)  # its manager died

    async with asyncio.timeout(10):
        await starting
    assert files.archives.mended == ["s1"]


async def test_files_of_a_deleted_session_go_at_once_or_when_their_delay_is_over() -> None:
    for delay in (timedelta(0), timedelta(hours=1)):
        files = Files(delay=delay)
        sandbox = await files.manager.ready()
        await files.take(*WHO, "one")

        await files.remove(*WHO)
        await files.remove(*WHO)
        await files.tend()

        assert not (await files.manager.get(sandbox.id)).occupied
        assert ("s1" in files.archives.files) is bool(delay)
        if delay:
            with pytest.raises(NotFoundError):
                await files.take(*WHO, "late")
            files.manager.clock.move(delay)
            await files.tend()
        assert files.archives.files == {}
        assert files.archives.kept == {}
        assert await files.records.get("s1") is None


async def test_files_that_can_not_be_mended_go_all_the_same_when_their_time_has_come() -> None:
    """What a hostile sandbox left made every mending fail, and the removal waited for one."""
    for by_sweep in (True, False):
        files = Files(delay=timedelta(minutes=1))
        taken = await files.take(*WHO, "one")
        files.archives.fail = files.archives.fail_mending = EngineUnavailableError("Not a directory.")
        with pytest.raises(EngineUnavailableError):
            await files.restore(*WHO, taken.id)
        await files.remove(*WHO)
        assert "s1" in files.archives.files

        files.manager.clock.move(timedelta(minutes=2))
        await (files.tend() if by_sweep else files.remove(*WHO))

        assert files.archives.files == {}
        assert await files.records.get("s1") is None


async def test_files_somebody_is_at_work_at_stay_until_that_is_done() -> None:
    files = Files()
    await files.hold(WorkKind.PACK)
    with pytest.raises(WorkspaceBusyError):
        await files.remove(*WHO)
    assert "s1" in files.archives.files

    await files.work.change(*WHO, lambda now: now.ended("manager-2"))
    await files.tend()

    assert files.archives.files == {}


async def test_no_sandbox_starts_on_files_that_are_half_exchanged() -> None:
    files = Files()
    identity = (await files.manager.ready()).identity
    taken = await files.take(*WHO, "one")
    files.archives.fail = files.archives.fail_mending = EngineUnavailableError("The engine is away.")
    with pytest.raises(EngineUnavailableError):
        await files.restore(*WHO, taken.id)
    files.manager.clock.move(WORK_LEASE * 2)

    with pytest.raises(EngineUnavailableError):
        await files.work.ready_to_start(identity)

    files.archives.fail_mending = None
    files.manager.clock.move(WORK_LEASE * 2)
    await files.work.ready_to_start(identity)


async def test_what_is_left_of_packing_is_not_mended_under_a_sandbox_that_runs() -> None:
    files = Files()
    await files.hold(WorkKind.PACK, lapsed=True)
    files.archives.fail_mending = EngineUnavailableError("It writes on and on.")

    await files.take(*WHO, "after")

    assert files.archives.mended == []


async def test_files_at_another_engine_are_left_to_the_managers_there() -> None:
    files = Files()
    await files.manager.ready()

    async def elsewhere() -> str:
        return "another engine"

    await replace(files.remove, place=elsewhere)(*WHO)
    assert "s1" in files.archives.files

    await files.tend()
    assert files.archives.files == {}


async def test_snapshots_of_files_at_another_engine_are_neither_taken_nor_restored_nor_dropped_here() -> None:
    files = Files()
    await files.manager.ready()
    kept = await files.take(*WHO, "one")

    async def elsewhere(_: str) -> bool:
        return True

    work = replace(files.work, is_elsewhere=elsewhere)
    before = await files.records.get("s1")
    for call in (
        replace(files.take, work=work)(*WHO, "two"),
        replace(files.restore, work=work)(*WHO, kept.id),
        replace(files.delete, work=work)(*WHO, kept.id),
    ):
        with pytest.raises(ElsewhereError):
            await call
    assert await files.records.get("s1") == before
    assert [one.status for one in await files.manager.registry.find(session_id="s1")] == [Status.READY]


async def test_records_changed_by_somebody_else_are_read_again() -> None:
    files = Files()
    await files.records.save(Workspace(session_id="s1", user_id="u1"))
    stale = await files.work.get(*WHO)
    await files.take(*WHO, "one")
    assert await files.records.save(stale) is False
