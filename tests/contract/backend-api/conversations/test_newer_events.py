"""While versions are mixed: what a newer process stored is read by an older one, as it came."""

from __future__ import annotations

from typing import Any

from backend_api.agent.events import MessageCompleted, MessageUser, NewerEvent
from backend_api.agent.new_events import NewEvent
from backend_api.agent.threads import Threads
from backend_api.conversations.application.event_json import event_fields
from support.backend_stores import ANNA, MongoStores


async def test_events_of_a_type_that_is_not_known_yet_are_read_and_nothing_is_folded_of_them(
    stores: MongoStores,
) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    said = {"type": "dream.dreamt", "of": [{"sheep": 3}], "agent_id": "agent_c"}
    newer: Any = NewerEvent(type="dream.dreamt", agent_id="agent_c", values=said)
    answer = MessageCompleted(message_id="b", text="Done.", turn=1, seen_seq=1)
    await stores.ledger.record(lease, [NewEvent(payload=newer), NewEvent(payload=answer)])
    log = await stores.log.read(session_id, after=0, limit=10)
    [read] = [event for event in log if event.payload.type == "dream.dreamt"]
    assert event_fields(read) == event_fields(read) | said | {"seq": read.seq, "run_id": lease.run.id}
    folded, without = Threads(), Threads()
    for event in log:
        folded.apply(event)
        if event is not read:
            without.apply(event)
    assert folded.main.conversation(lease.run.id) == without.main.conversation(lease.run.id)
