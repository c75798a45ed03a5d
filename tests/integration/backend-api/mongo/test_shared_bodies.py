"""What stands before a conversation is stored once for all that have the same, and goes with the last of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import pytest

from backend_api.agent.events import BodyReference, ContentReference, ContextOpened, MessageUser, StoredPayload
from backend_api.agent.new_events import Body, NewEvent
from backend_api.conversations.domain.errors import EventBodyNotFoundError
from backend_api.conversations.mongo.shared_bodies import MAX_SHARED_BYTES, remove_unused
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.main.stores import connect
from support.backend_stores import ANNA, BERT, ConversationStores, mongo_stores
from support.servers import Server

SAME = b'{"system":"You are an agent.","tools":[]}' * 100
UNUSED = timedelta(seconds=0)


@pytest.fixture
async def stores(mongo_server: Server, mongo_database_name: str) -> AsyncGenerator[ConversationStores]:
    async with mongo_stores(mongo_server.uri, mongo_database_name) as opened:
        yield opened


@pytest.fixture
async def database(mongo_server: Server, mongo_database_name: str) -> AsyncGenerator[Database]:
    async with connect(mongo_server.uri, mongo_database_name) as opened:
        yield opened


async def opened_with(stores: ConversationStores, content: bytes, user: UserId = ANNA) -> tuple[SessionId, int]:
    session_id = await stores.session(user)
    await stores.ledger.accept(session_id, user, MessageUser(message_id="u", text="hello"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    text = ContentReference(digest="d", size=1)
    payload: StoredPayload = ContextOpened(
        epoch=1, cause="started", model="m", system=text, tools=text, body=BodyReference(size=len(content))
    )
    item = NewEvent(payload=payload, body=Body(content=content, media_type="application/json"))
    (event,) = await stores.ledger.record(lease, [item])
    return session_id, event.seq or 0


async def stored_bytes(database: Database) -> int:
    found = [*await database["bodies"].find().to_list(), *await database["shared_bodies"].find().to_list()]
    return sum(len(one["content"]) for one in found)


async def test_it_is_stored_once_and_read_by_each_as_its_own(stores: ConversationStores, database: Database) -> None:
    opened = [await opened_with(stores, SAME, user) for user in (ANNA, ANNA, BERT)]
    for session_id, seq in opened:
        body = await stores.log.body(session_id, seq)
        assert (body.content, body.media_type) == (SAME, "application/json")
    assert await stored_bytes(database) == len(SAME)
    with pytest.raises(EventBodyNotFoundError):
        await stores.log.body(opened[0][0], opened[0][1] + 1)


async def test_it_outlives_one_session_and_goes_after_the_last(stores: ConversationStores, database: Database) -> None:
    (first, _), (second, seq) = await opened_with(stores, SAME), await opened_with(stores, SAME)
    await stores.sessions.delete(first, ANNA)
    await stores.deletions(0).finish(first)
    await remove_unused(database, unused=UNUSED)
    assert (await stores.log.body(second, seq)).content == SAME
    await stores.sessions.delete(second, ANNA)
    await stores.deletions(0).finish(second)
    # A process may have taken it for stored a moment ago, and be about to refer to it.
    await remove_unused(database)
    assert await stored_bytes(database) == len(SAME)
    await database["shared_bodies"].update_many({}, {"$set": {"used_at": datetime.now(UTC) - timedelta(hours=3)}})
    assert await stores.deletions(0).claim_next() is None
    assert await stored_bytes(database) == 0


async def test_one_that_is_large_stands_with_its_session(stores: ConversationStores, database: Database) -> None:
    content = b"x" * (MAX_SHARED_BYTES + 1)
    session_id, seq = await opened_with(stores, content)
    assert (await stores.log.body(session_id, seq)).content == content
    assert await database["shared_bodies"].count_documents({}) == 0
