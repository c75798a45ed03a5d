"""Options of a session: changed one by one, and known to whoever works on its runs."""

from __future__ import annotations

import asyncio

from backend_api.agent.events import MessageUser, RunFinished
from backend_api.conversations.domain.entity import Claimant
from support.backend_stores import ANNA, MongoStores


async def test_options_change_one_by_one_and_are_taken_back_by_none(stores: MongoStores) -> None:
    session_id = await stores.session()
    await stores.sessions.update(session_id, ANNA, {"options": {"max_turns": 7}, "title": "a"})
    changed = await stores.sessions.update(session_id, ANNA, {"options": {"other": "x"}})
    assert changed.options == {"max_turns": 7, "other": "x"}
    changed = await stores.sessions.update(session_id, ANNA, {"options": {"max_turns": None}})
    assert (changed.options, changed.title) == ({"other": "x"}, "a")
    assert (await stores.sessions.update(session_id, ANNA, {"options": {}})).options == {"other": "x"}


async def test_options_changed_at_once_all_hold(stores: MongoStores) -> None:
    session_id = await stores.session()
    names = [f"option_{number}" for number in range(10)]
    await asyncio.gather(*(stores.sessions.update(session_id, ANNA, {"options": {name: 1}}) for name in names))
    assert (await stores.sessions.get(session_id, ANNA)).options == dict.fromkeys(names, 1)


async def test_a_lease_tells_how_many_turns_the_session_allows_and_its_preset(stores: MongoStores) -> None:
    session_id = await stores.session()
    claimant = Claimant(worker="here", lease_s=30, model="m")
    at_once = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m1", text="a"), claimant=claimant)
    assert at_once.lease is not None
    assert (at_once.lease.options.max_turns, at_once.lease.options.preset) == (None, None)
    ended = RunFinished(run_id=at_once.run_id, status="completed")
    await stores.ledger.finish(at_once.lease, ended, seen_seq=at_once.seq)

    await stores.sessions.update(session_id, ANNA, {"options": {"max_turns": 3}, "preset": "chat"})
    queued = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m2", text="b"))
    claimed = await stores.ledger.claim("there", lease_s=30, model="m", run_id=queued.run_id)
    assert claimed is not None
    assert (claimed.options.max_turns, claimed.options.preset) == (3, "chat")
    ended = RunFinished(run_id=queued.run_id, status="completed")
    await stores.ledger.finish(claimed, ended, seen_seq=queued.seq)
    again = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m3", text="c"), claimant=claimant)
    assert again.lease is not None
    assert (again.lease.options.max_turns, again.lease.options.preset) == (3, "chat")
