"""A session is named after its first message once, and its stream tells of it."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.events import Event, SessionUpdated
from backend_api.agent.model import FinishPart, TextPart
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.session_changes import Changed
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId, UserId
from support.memory.run_ledger import MemoryRunLedger
from support.memory.sessions import MemorySessionRepository
from support.memory.store import MemoryStore
from support.scripted import ScriptedModel
from support.stage import USER, Stage, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]


class LosesTitles(MemoryRunLedger):
    """Whoever writes a title is away right then."""

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        if any(isinstance(item.payload, SessionUpdated) for item in items):
            raise StoreUnavailableError("away")
        return await super().record(lease, items, handled=handled)


async def test_no_title_is_stored_without_being_told() -> None:
    store = MemoryStore()
    stage = Stage(store, ledger=LosesTitles(store))
    async with working(worker_for(stage, ScriptedModel(SAID))):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "Hi there\nmore"))
    assert (await stage.sessions.get(session, USER)).title == "Hi there"
    assert stage.payloads(session, SessionUpdated) == [SessionUpdated(title="Hi there")]
    told = [event for event in stage.stream.published if isinstance(event.payload, SessionUpdated)]
    assert [event.payload for event in told] == [SessionUpdated(title="Hi there")]


async def test_a_title_that_the_user_gave_while_the_message_waited_stays() -> None:
    stage = Stage()
    session = await stage.open_session()
    run_id = await stage.say(session, "Hi there")
    await stage.sessions.change(session, USER, {"title": "mine"})
    async with working(worker_for(stage, ScriptedModel(SAID))):
        await stage.until_finished(run_id)
    assert (await stage.sessions.get(session, USER)).title == "mine"
    assert stage.payloads(session, SessionUpdated) == [SessionUpdated(title="mine")]


class CountsNaming(MemorySessionRepository):
    """Counts how often a name was asked to be given."""

    namings = 0

    async def name(self, session_id: SessionId, user_id: UserId, title: str) -> Changed:
        self.namings += 1
        return await super().name(session_id, user_id, title)


async def test_a_session_that_has_a_name_is_given_none_by_its_runs() -> None:
    stage = Stage(store := MemoryStore())
    stage.sessions = sessions = CountsNaming(store)
    async with working(worker_for(stage, ScriptedModel(SAID, SAID, SAID))):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "Hi there"))
        await stage.until_finished(await stage.say(session, "And then?"))
        named = await stage.open_session(title="mine")
        await stage.until_finished(await stage.say(named, "Hi there"))
    assert sessions.namings == 1
