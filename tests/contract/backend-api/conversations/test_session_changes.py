"""What the stream tells of a session is what the session is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from backend_api.agent.events import MessageUser, SessionUpdated
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, BERT, MongoStores


async def told(stores: MongoStores, session_id: SessionId) -> list[SessionUpdated]:
    events = await stores.log.read(session_id, after=0, limit=1_000)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (await stores.sessions.get(session_id, ANNA)).last_seq == len(events)
    return [event.payload for event in events if isinstance(event.payload, SessionUpdated)]


async def test_a_change_answers_and_stores_what_the_session_is_then(stores: MongoStores) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    before = (await stores.sessions.get(session_id, ANNA)).last_seq
    await stores.sessions.change(session_id, ANNA, {"options": {"max_turns": 5}})
    changed = await stores.sessions.change(session_id, ANNA, {"title": "a", "options": {"enable_approval": True}})
    options = {"max_turns": 5, "enable_approval": True}
    assert (changed.session.title, changed.session.options, changed.session.last_seq) == ("a", options, before + 2)
    assert changed.session == await stores.sessions.get(session_id, ANNA)
    (event,) = changed.events
    assert (event.seq, event.run_id) == (before + 2, None)
    assert await told(stores, session_id) == [
        SessionUpdated(options={"max_turns": 5}, changed_options=["max_turns"]),
        SessionUpdated(title="a", options=options, changed_options=["enable_approval"]),
    ]


async def test_of_changes_at_once_the_last_that_is_told_is_true(stores: MongoStores) -> None:
    session_id = await stores.session()
    for _ in range(30):
        flags = (stores.sessions.change(session_id, ANNA, {"options": {"enable_approval": one}}) for one in (1, 2, 3))
        names = (stores.sessions.change(session_id, ANNA, {"title": title}) for title in ("a", "b"))
        await asyncio.gather(*flags, *names)
        session = await stores.sessions.get(session_id, ANNA)
        changes = await told(stores, session_id)
        assert [one.options for one in changes if one.options is not None][-1] == session.options
        assert [one.title for one in changes if one.title is not None][-1] == session.title


async def test_only_a_session_without_a_title_is_named(stores: MongoStores) -> None:
    session_id = await stores.session()
    named = await stores.sessions.name(session_id, ANNA, "first")
    assert (named.session.title, [event.payload for event in named.events]) == (
        "first",
        [SessionUpdated(title="first")],
    )
    again = await stores.sessions.name(session_id, ANNA, "second")
    assert (again.session, again.events) == (named.session, [])
    assert await told(stores, session_id) == [SessionUpdated(title="first")]
    with pytest.raises(SessionNotFoundError):
        await stores.sessions.name(session_id, BERT, "b")


async def test_a_title_that_the_user_sets_at_the_same_moment_stays(stores: MongoStores) -> None:
    for _ in range(30):
        session_id = await stores.session()
        await asyncio.gather(
            stores.sessions.name(session_id, ANNA, "first line"),
            stores.sessions.change(session_id, ANNA, {"title": "mine"}),
        )
        assert (await stores.sessions.get(session_id, ANNA)).title == "mine"
        assert [one.title for one in await told(stores, session_id)][-1] == "mine"


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "a"},
        {"model": "m"},
        {"preset": "p"},
        {"options": {"max_turns": 5}},
        {"options": {}},
        {"options": {"enable_approval": None}},
        {"pinned": True, "archived": False},
        {"title": "a", "model": "m", "options": {"max_turns": 5, "enable_thinking": None}, "pinned": True},
    ],
    ids=str,
)
async def test_a_change_that_changes_nothing_stores_nothing(stores: MongoStores, changes: dict[str, Any]) -> None:
    session_id = await stores.session()
    as_it_is = {"title": "a", "model": "m", "preset": "p", "options": {"max_turns": 5}, "pinned": True}
    first = await stores.sessions.change(session_id, ANNA, as_it_is)
    again = await stores.sessions.change(session_id, ANNA, changes)
    assert (again.session, again.events) == (first.session, [])
    assert len(await told(stores, session_id)) == 1


async def test_a_preset_is_told_when_it_changes_and_taken_back_by_none(stores: MongoStores) -> None:
    session_id = await stores.session()
    for preset in ("p", "q", None):
        changed = await stores.sessions.change(session_id, ANNA, {"preset": preset})
        assert changed.session.preset == preset
        assert [event.payload for event in changed.events] == [SessionUpdated(preset=preset)]
    assert (await stores.sessions.get(session_id, ANNA)).preset is None


async def test_pinning_is_told_by_the_feed_alone(stores: MongoStores) -> None:
    session_id = await stores.session()
    changed = await stores.sessions.change(session_id, ANNA, {"pinned": True, "archived": True})
    assert (changed.session.pinned, changed.session.archived, changed.events) == (True, True, [])
    assert await told(stores, session_id) == []


async def test_a_session_is_changed_by_its_owner_alone(stores: MongoStores) -> None:
    session_id = await stores.session()
    with pytest.raises(SessionNotFoundError):
        await stores.sessions.change(session_id, BERT, {"title": "b"})
    assert await told(stores, session_id) == []
