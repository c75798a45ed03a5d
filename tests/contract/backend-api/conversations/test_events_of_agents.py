"""What an agent that works for the main one says stands in the log, and is nothing said to the person."""

from __future__ import annotations

from backend_api.agent.events import MessageCompleted, MessageUser, SubagentStarted, agent_of
from backend_api.agent.new_events import NewEvent
from support.backend_stores import ANNA, MongoStores


async def test_it_is_read_with_its_agent_and_no_message_of_the_session(
    stores: MongoStores,
) -> None:
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    started = SubagentStarted(subagent_id="agent_c", kind="explore", task="look", parent_call_id="c")
    inner = MessageCompleted(message_id="a", text="Inside.", turn=1, seen_seq=4, agent_id="agent_c")
    outer = MessageCompleted(message_id="b", text="Outside.", turn=1, seen_seq=1)
    await stores.ledger.record(lease, [NewEvent(payload=payload) for payload in (started, inner, outer, inner)])
    log = await stores.log.read(session_id, after=3, limit=10)
    assert [event.payload for event in log] == [started, inner, outer, inner]
    assert [agent_of(event.payload) for event in log] == ["agent_c", "agent_c", None, "agent_c"]
    said = await stores.transcripts.messages(session_id, up_to=100, limit=10)
    assert [getattr(event.payload, "text", "") for event in said] == ["go", "Outside."]
