"""A session's history as a file in its workspace."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from backend_api.agent.events import MessageUser, ToolFinished
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.conversations.application.write_transcript import WriteTranscript
from support.backend_stores import ANNA, memory_stores
from support.memory.sandboxes import MemorySandboxes, MemoryWorkspace

AT = datetime(2026, 3, 5, 6, 7, 8, 9, tzinfo=UTC)


async def test_it_has_every_event_with_what_the_model_read_of_it() -> None:
    stores, sandboxes, workspace = memory_stores(), MemorySandboxes(), MemoryWorkspace()
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="hi \u4f60"))
    lease = await stores.ledger.claim("w", lease_s=30, model="m")
    assert lease is not None
    result = ToolFinished(call_id="c", success=True, preview="short")
    await stores.ledger.record(lease, [NewEvent(payload=result, output="long")])
    sandbox = await sandboxes.ensure(session_id, ANNA)
    write = WriteTranscript(stores.log, AgentFiles(sandboxes, workspace), lambda: AT)
    path = await write(session_id, ANNA)
    assert path == ".transcripts/transcript_20260305T060708000009.jsonl"
    async with workspace.download(sandbox, path) as download:
        lines = [json.loads(line) for line in b"".join([chunk async for chunk in download.chunks]).splitlines()]
    assert [line["type"] for line in lines] == ["message.user", "run.queued", "run.started", "tool.finished"]
    assert (lines[0]["text"], lines[3]["output"]) == ("hi \u4f60", "long")


async def test_a_session_without_a_computer_gets_none_for_it() -> None:
    stores, sandboxes = memory_stores(), MemorySandboxes()
    session_id = await stores.session()
    assert (
        await WriteTranscript(stores.log, AgentFiles(sandboxes, MemoryWorkspace()), lambda: AT)(session_id, ANNA)
        is None
    )
    assert (await sandboxes.status(session_id)).status not in ("ready", "starting")


async def test_one_that_can_not_be_written_is_done_without() -> None:
    stores, sandboxes = memory_stores(), MemorySandboxes()
    session_id = await stores.session()
    await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="long " * 100))
    await sandboxes.ensure(session_id, ANNA)
    write = WriteTranscript(stores.log, AgentFiles(sandboxes, MemoryWorkspace(max_bytes=100)), lambda: AT)
    assert await write(session_id, ANNA) is None
