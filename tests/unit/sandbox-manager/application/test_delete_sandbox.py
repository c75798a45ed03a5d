from __future__ import annotations

import asyncio

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.sandbox import Status
from support.manager_harness import ManagerHarness


async def test_deleting_removes_everything() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()

    await manager.delete(ready.id, keep_workspace=False)

    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == set()
    assert (await manager.get(ready.id)).status is Status.GONE


async def test_deleting_again_or_what_never_was_is_no_error() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()

    await manager.delete(ready.id, keep_workspace=False)
    await manager.delete(ready.id, keep_workspace=False)
    await manager.delete("never", keep_workspace=False)


async def test_deleting_in_the_middle_of_a_start_leaves_nothing() -> None:
    manager = ManagerHarness()
    manager.runtime.hold = asyncio.Event()
    created = await manager.create("s1", "u1")
    await asyncio.sleep(0)

    await manager.delete(created.sandbox.id, keep_workspace=False)

    assert manager.runtime.things == {}
    assert (await manager.get(created.sandbox.id)).status is Status.GONE


async def test_a_kept_workspace_is_removed_when_asked_for_later() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    await manager.delete(ready.id, keep_workspace=True)
    assert manager.runtime.workspaces == {"s1"}

    await manager.delete(ready.id, keep_workspace=False)

    assert manager.runtime.workspaces == set()


async def test_deleting_an_old_generation_leaves_the_new_ones_workspace() -> None:
    manager = ManagerHarness()
    old = await manager.ready()
    await manager.delete(old.id, keep_workspace=True)
    new = await manager.ready()

    await manager.delete(old.id, keep_workspace=False)

    assert manager.runtime.workspaces == {"s1"}
    assert list(manager.runtime.things) == [new.id]


async def test_what_the_engine_could_not_remove_is_removed_by_a_later_sweep() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    manager.runtime.unavailable = EngineUnavailableError("gone")
    with pytest.raises(EngineUnavailableError):
        await manager.delete(ready.id, keep_workspace=False)
    manager.runtime.unavailable = None

    await manager.reconcile()

    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == set()


async def test_stopping_the_stack_removes_all_and_keeps_workspaces() -> None:
    manager = ManagerHarness()
    await manager.ready("s1")
    await manager.ready("s2", "u2")

    await manager.remove_all()

    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == {"s1", "s2"}
