from __future__ import annotations

import asyncio

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.sandbox import Status
from support.keeping import Keeping


async def test_deleting_removes_everything() -> None:
    keeping = Keeping()
    ready = await keeping.ready()

    await keeping.delete(ready.id, keep_workspace=False)

    assert keeping.runtime.things == {}
    assert keeping.runtime.workspaces == set()
    assert (await keeping.get(ready.id)).status is Status.GONE


async def test_deleting_again_or_what_never_was_is_no_error() -> None:
    keeping = Keeping()
    ready = await keeping.ready()

    await keeping.delete(ready.id, keep_workspace=False)
    await keeping.delete(ready.id, keep_workspace=False)
    await keeping.delete("never", keep_workspace=False)


async def test_deleting_in_the_middle_of_a_start_leaves_nothing() -> None:
    keeping = Keeping()
    keeping.runtime.hold = asyncio.Event()
    created = await keeping.create("s1", "u1")
    await asyncio.sleep(0)

    await keeping.delete(created.sandbox.id, keep_workspace=False)

    assert keeping.runtime.things == {}
    assert (await keeping.get(created.sandbox.id)).status is Status.GONE


async def test_a_kept_workspace_is_removed_when_asked_for_later() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    await keeping.delete(ready.id, keep_workspace=True)
    assert keeping.runtime.workspaces == {"s1"}

    await keeping.delete(ready.id, keep_workspace=False)

    assert keeping.runtime.workspaces == set()


async def test_deleting_an_old_generation_leaves_the_new_ones_workspace() -> None:
    keeping = Keeping()
    old = await keeping.ready()
    await keeping.delete(old.id, keep_workspace=True)
    new = await keeping.ready()

    await keeping.delete(old.id, keep_workspace=False)

    assert keeping.runtime.workspaces == {"s1"}
    assert list(keeping.runtime.things) == [new.id]


async def test_what_the_engine_could_not_remove_is_removed_by_a_later_sweep() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    keeping.runtime.unavailable = EngineUnavailableError("gone")
    with pytest.raises(EngineUnavailableError):
        await keeping.delete(ready.id, keep_workspace=False)
    keeping.runtime.unavailable = None

    await keeping.reconcile()

    assert keeping.runtime.things == {}
    assert keeping.runtime.workspaces == set()


async def test_stopping_the_stack_removes_all_and_keeps_workspaces() -> None:
    keeping = Keeping()
    await keeping.ready("s1")
    await keeping.ready("s2", "u2")

    await keeping.remove_all()

    assert keeping.runtime.things == {}
    assert keeping.runtime.workspaces == {"s1", "s2"}
