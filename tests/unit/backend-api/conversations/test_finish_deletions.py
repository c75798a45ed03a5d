"""What a deletion left of a computer is removed, whoever began it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from backend_api.conversations.application.delete_session import DeleteSession
from backend_api.conversations.application.finish_deletions import FinishDeletions
from backend_api.kit.ids import SessionId
from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from support.backend_stores import ANNA, ConversationStores, memory_stores
from support.memory.sandboxes import MemorySandboxes


class Managed(MemorySandboxes):
    """`away`: the manager can't be reached. `silent`: it does not answer. `stuck`: sessions whose computers can't be
    removed."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False
        self.silent = False
        self.stuck: set[str] = set()

    async def delete(self, session_id: str, user_id: str) -> None:
        if self.away or session_id in self.stuck:
            raise SandboxUnavailableError("The sandbox manager can't be reached.")
        if self.silent:
            await asyncio.Event().wait()
        assert user_id == ANNA
        await super().delete(session_id, user_id)


class Clock:
    """Set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


async def deleted(stores: ConversationStores, sandboxes: Managed) -> SessionId:
    session_id = await stores.session()
    await sandboxes.ensure(session_id, ANNA)
    await DeleteSession(stores.sessions, stores.ledger, InProcessNotifier(), sandboxes)(session_id, ANNA)
    return session_id


async def test_a_computer_that_was_not_reached_is_removed_later() -> None:
    stores, sandboxes = memory_stores(), Managed()
    sandboxes.away = True
    session_id = await deleted(stores, sandboxes)
    await FinishDeletions(stores.deletions(30.0), sandboxes)()
    assert session_id in sandboxes.living
    sandboxes.away = False
    await FinishDeletions(stores.deletions(0.0), sandboxes)()
    assert session_id not in sandboxes.living
    assert await stores.deletions(0.0).claim_next() is None


async def test_a_person_does_not_wait_for_a_manager_that_does_not_answer() -> None:
    stores, sandboxes = memory_stores(), Managed()
    sandboxes.silent = True
    session_id = await stores.session()
    await sandboxes.ensure(session_id, ANNA)
    delete = DeleteSession(stores.sessions, stores.ledger, InProcessNotifier(), sandboxes, sandbox_wait_s=0.01)
    async with asyncio.timeout(5):
        await delete(session_id, ANNA)
    sandboxes.silent = False
    await FinishDeletions(stores.deletions(0.0), sandboxes)()
    assert sandboxes.living == {}


async def test_a_gateway_that_died_after_the_session_was_gone_leaves_no_computer() -> None:
    stores, sandboxes = memory_stores(), Managed()
    session_id = await stores.session()
    await sandboxes.ensure(session_id, ANNA)
    await stores.sessions.delete(session_id, ANNA)  # and nothing more
    await FinishDeletions(stores.deletions(0.0), sandboxes)()
    assert sandboxes.living == {}


async def test_a_computer_started_by_a_call_that_was_on_its_way_is_removed_too() -> None:
    stores, sandboxes = memory_stores(), Managed()
    session_id = await deleted(stores, sandboxes)
    await sandboxes.ensure(session_id, ANNA)
    await FinishDeletions(stores.deletions(30.0), sandboxes)()
    assert session_id in sandboxes.living, "too early"
    await FinishDeletions(stores.deletions(0.0), sandboxes)()
    assert sandboxes.living == {}


async def test_one_that_can_not_be_removed_does_not_hold_up_the_others() -> None:
    clock = Clock()
    stores, sandboxes = memory_stores(clock=clock), Managed()
    sandboxes.away = True
    stuck, _ = await deleted(stores, sandboxes), await deleted(stores, sandboxes)
    sandboxes.away, sandboxes.stuck = False, {stuck}
    clock.now += timedelta(seconds=30)
    finish = FinishDeletions(stores.deletions(30.0), sandboxes)
    await finish()
    assert set(sandboxes.living) == {stuck}
    sandboxes.stuck.clear()
    clock.now += timedelta(seconds=30)
    await finish()
    assert sandboxes.living == {}
