"""Nothing that is said is too long for the store, and no document grows large by it."""

from __future__ import annotations

import pymongo
import pytest

from backend_api.agent.events import (
    BodyReference,
    MessageCompleted,
    MessageUser,
    RunEnd,
    RunFinished,
    StoredPayload,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.new_events import Body, NewEvent
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, BERT, MongoStores, mongo_stores
from support.servers import Server

SMILE = "\U0001f600"
MAX_DOCUMENT = 256 * 1024


def largest_document(uri: str, name: str) -> int:
    with pymongo.MongoClient[dict[str, object]](uri) as client:
        sizes = [
            found["size"]
            for collection in client[name].list_collection_names()
            for found in client[name][collection].aggregate([{"$project": {"size": {"$bsonSize": "$$ROOT"}}}])
        ]
    return max(sizes)


async def long_session(stores: MongoStores) -> tuple[SessionId, list[StoredPayload]]:
    """Everything as long as it may get, and a lone half of a character."""
    session_id = await stores.session()
    said = MessageUser(message_id="u", text=SMILE * 100_000, attachments=["ü" * 4096] * 50, client_message_id="c" * 200)
    await stores.ledger.accept(session_id, ANNA, said)
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    body = Body(content=bytes(range(256)) * 12_000, media_type="image/png")
    recorded: list[StoredPayload] = [
        ThinkingCompleted(message_id="a", text=SMILE * 70_000 + "\ud83d", signature="s" * 100_000),
        MessageCompleted(message_id="a", text='\n"' * 200_000),
        ToolCalled(call_id="t", name="write", arguments={"text": "中" * 300_000}, phrase="Writing"),
        ToolFinished(call_id="t", success=True, preview="p", body=BodyReference(size=len(body.content))),
    ]
    await stores.ledger.record(lease, [NewEvent(payload=payload) for payload in recorded[:3]])
    (finished,) = await stores.ledger.record(lease, [NewEvent(payload=recorded[3], body=body)])
    end = RunFinished(run_id=lease.run.id, status="completed", files=[f"file-{n}.txt" for n in range(20_000)])
    assert await stores.ledger.finish(lease, end, seen_seq=9)
    assert (await stores.log.body(session_id, finished.seq or 0)).content == body.content
    return session_id, [said, *recorded, end]


async def test_long_texts_come_back_whole(stores: MongoStores) -> None:
    session_id, payloads = await long_session(stores)
    events = await stores.log.read(session_id, after=0, limit=100)
    found = [event.payload for event in events if event.payload.type not in ("run.queued", "run.started")]
    # Compared one by one: their difference is unreadable.
    assert [a == b for a, b in zip(found, payloads, strict=True)] == [True] * len(payloads)
    messages = await stores.transcripts.messages(session_id, up_to=99, limit=10)
    assert [message.payload for message in messages] == [payloads[0], payloads[2]]
    said = payloads[0]
    assert isinstance(said, MessageUser)
    again = await stores.ledger.accept(session_id, ANNA, said)
    assert (again.duplicate, again.message_id, again.seq) == (True, "u", 1)


async def test_no_document_is_over_256_kb_and_none_outlives_its_session(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        session_id, _ = await long_session(stores)
        assert 100_000 < largest_document(mongo_server.uri, mongo_database_name) <= MAX_DOCUMENT
        await stores.sessions.delete(session_id, ANNA)
        with pymongo.MongoClient[dict[str, object]](mongo_server.uri) as client:

            def left(*names: str) -> dict[str, int]:
                return {name: client[mongo_database_name][name].count_documents({}) for name in names}

            contents = ("runs", "events", "event_parts", "bodies")
            assert left(*contents) == dict.fromkeys(contents, 0)
            # Its own document stays until its computer is gone too.
            await stores.deletions(0).finish(session_id)
            assert left("sessions") == {"sessions": 0}


async def test_a_run_that_ended_is_one_unread_answer_until_the_marker_passes_it_unless_it_was_stopped(
    stores: MongoStores,
) -> None:
    session_id = await stores.session()

    async def run(status: RunEnd) -> int:
        seen = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="u", text="hello"))
        lease = await stores.ledger.claim("w", lease_s=30, model="m")
        assert lease is not None
        said = [NewEvent(payload=MessageCompleted(message_id=text, text=text)) for text in ("one", "two")]
        await stores.ledger.record(lease, said[:1])
        before = (await stores.sessions.get(session_id, ANNA)).unread
        finished = RunFinished(run_id=lease.run.id, status=status)
        [*_, end] = await stores.ledger.finish(lease, finished, seen_seq=seen.seq, said=said[1:])
        return (end.seq or 0) if (await stores.sessions.get(session_id, ANNA)).unread > before else 0

    first, stopped, failed = [await run(status) for status in ("completed", "stopped", "failed")]
    assert (first > 0, stopped, failed > first) == (True, 0, True)
    assert (await stores.sessions.get(session_id, ANNA)).unread == 2
    seen = [(first - 1, first - 1, 2), (first, first, 1), (0, first, 1), (99, failed, 0)]
    for seq, marker, unread in seen:
        session = await stores.markers.mark(session_id, ANNA, seq)
        assert (session.read_seq, session.unread) == (marker, unread)
        assert session == await stores.sessions.get(session_id, ANNA)
    assert await run("completed") > failed
    assert (await stores.sessions.get(session_id, ANNA)).unread == 1
    with pytest.raises(SessionNotFoundError):
        await stores.markers.mark(session_id, BERT, 1)
