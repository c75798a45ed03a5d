"""Runs that nobody made, recorded by the ledger itself: for long conversations in measures and benchmarks."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence

from backend_api.agent.events import (
    MessageCompleted,
    MessageUser,
    RunFinished,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.domain.entity import Claimant
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Client
from backend_api.runs.mongo.run_ledger import MongoRunLedger

LOCAL = UserId("local")
_CLAIMANT = Claimant(worker="filler", lease_s=3600, model="demo")


async def record_until(
    events: int, mongo_uri: str, database: str, record: Callable[[MongoRunLedger, int], Awaitable[int]]
) -> int:
    """Call `record` with the last number until that is `events` or more; answers the last number."""
    client: Client = Client(mongo_uri, tz_aware=True)
    last = 0
    try:
        ledger = MongoRunLedger(client[database])
        while last < events:
            last = await record(ledger, last)
    finally:
        await client.close()
    return last


async def record_run(
    ledger: MongoRunLedger,
    session_id: SessionId,
    *,
    said: str,
    calls: Sequence[tuple[ToolCalled, ToolFinished]],
    answer: str,
) -> int:
    """A run with these calls and this answer to what the person said; answers its last number."""
    message = MessageUser(message_id=uuid.uuid4().hex, text=said)
    accepted = await ledger.accept(session_id, LOCAL, message, claimant=_CLAIMANT)
    assert accepted.lease is not None
    usage = Usage(input=9000, output=300, by_model={"demo": {"input": 9000, "output": 300}})
    answered = MessageCompleted(message_id=uuid.uuid4().hex, text=answer)
    payloads = [*(one for call in calls for one in call), UsageUpdated(usage=usage), answered]
    await ledger.record(accepted.lease, [NewEvent(payload=payload) for payload in payloads])
    end = RunFinished(run_id=accepted.run_id, status="completed", usage=usage, duration_ms=1200)
    events = await ledger.finish(accepted.lease, end, seen_seq=accepted.seq)
    return events[-1].seq or 0
