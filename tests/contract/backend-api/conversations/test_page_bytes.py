"""Pages of what is stored are bounded by bytes as well as by number, and still reach everything."""

from __future__ import annotations

from backend_api.agent.events import MessageUser, Notice
from support.backend_stores import ANNA, MongoStores

TEXT = "é" * 30_000
MOST = 150_000
"""Two texts of 60 KB, not three."""


async def test_a_page_ends_before_it_is_too_large_and_holds_one_event_at_least(stores: MongoStores) -> None:
    session_id = await stores.session()
    await stores.log.append(session_id, [Notice(text=TEXT, code="x")] * 5)
    log = stores.log
    ahead = [event.seq for event in await log.read(session_id, after=1, limit=100, most=MOST)]
    back = [event.seq for event in await log.read_back(session_id, before=5, limit=100, most=MOST)]
    assert (ahead, back) == ([2, 3], [3, 4])
    assert [event.seq for event in await log.read(session_id, after=0, limit=100, most=1)] == [1]
    assert [event.seq for event in await log.read_back(session_id, before=9, limit=100, most=1)] == [5]
    assert len(await log.read(session_id, after=0, limit=4, most=10**9)) == 4


async def test_the_last_messages_are_those_of_a_state(stores: MongoStores) -> None:
    session_id = await stores.session()
    for n in range(4):
        await stores.ledger.accept(session_id, ANNA, MessageUser(message_id=f"m{n}", text=f"{n}{TEXT}"))
    said = await stores.transcripts.messages(session_id, up_to=99, limit=100, most=MOST)
    assert [getattr(event.payload, "text", "")[0] for event in said] == ["2", "3"]
