"""What a stop of a run that waits reads of it, within its transaction."""

from __future__ import annotations

from typing import Any

from pymongo import monitoring

from backend_api.agent.approvals import Approval
from backend_api.agent.events import MessageUser, ToolCalled, ToolFinished
from backend_api.agent.new_events import NewEvent
from backend_api.agent.waits import Wait
from support.backend_stores import ANNA, mongo_stores
from support.servers import Server


class FoundEvents(monitoring.CommandListener):
    """The driver knows listeners of all clients of the process only; this one keeps what is read from the log."""

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        pass

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        cursor = event.reply.get("cursor", {})
        if str(cursor.get("ns")).endswith(".events"):
            self.documents += cursor.get("firstBatch", cursor.get("nextBatch"))

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass


async def test_it_reads_nothing_of_what_the_models_read(mongo_server: Server, mongo_database_name: str) -> None:
    found = FoundEvents()
    monitoring.register(found)
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        session_id = await stores.session()
        await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
        lease = await stores.ledger.claim("w", lease_s=30, model="m")
        assert lease is not None
        payloads = [ToolCalled(call_id=one, name="look", arguments={}, phrase="") for one in ("done", "open")]
        result = ToolFinished(call_id="done", success=True, preview="read")
        recorded = [NewEvent(payload=payload) for payload in payloads]
        await stores.ledger.record(lease, [*recorded, NewEvent(payload=result, output="x" * 100_000)])
        wait = Wait(id="wait", subject=Approval(calls=[], agent_id="agent_open"), expires_s=60)
        await stores.ledger.wait(lease, [wait], read_seq=0)
        found.documents.clear()
        await stores.ledger.request_stop(session_id, ANNA)
        of_calls = ["tool.called", "tool.called", "tool.finished", "approval.requested"]
        assert [one["type"] for one in found.documents] == of_calls
        assert sum(len(str(one)) for one in found.documents) < 10_000
        results = [one.payload for one in await stores.log.read(session_id, after=0, limit=20)]
        assert [one.call_id for one in results if isinstance(one, ToolFinished)] == ["done", "open"]
