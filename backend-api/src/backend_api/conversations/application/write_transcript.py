"""A session's whole history as a file in its workspace, for an agent that continues from a summary of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime

from backend_api.agent.events import LlmRequest, LlmResponse
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.conversations.application.event_json import dump, event_fields
from backend_api.conversations.ports import EventLog
from backend_api.kit.ids import SessionId, UserId

FOLDER = ".transcripts"
_PAGE, _PAGE_BYTES = 1_000, 4_000_000


@dataclass(frozen=True, slots=True)
class WriteTranscript:
    """Writes one event a line, as in the API, with what a model read of it as `output` if that is more; see
    `AgentFiles`."""

    log: EventLog
    files: AgentFiles
    now: Callable[[], datetime]

    async def __call__(self, session_id: SessionId, user_id: UserId) -> str | None:
        """The file's path in the workspace, or None if it was not written."""
        name = f"transcript_{self.now():%Y%m%dT%H%M%S%f}.jsonl"
        return await self.files.write(session_id, user_id, FOLDER, name, self._lines(session_id))

    async def _lines(self, session_id: SessionId) -> AsyncIterator[bytes]:
        after, is_end, path = 0, False, await self.log.path(session_id)
        while not is_end:
            page, is_end = await self.log.read_entries(
                session_id, after=after, limit=_PAGE, most=_PAGE_BYTES, path=path
            )
            for entry in page:
                after = entry.event.seq or after
                if isinstance(entry.event.payload, LlmRequest | LlmResponse):
                    continue  # the same content again, as sent to the model
                fields = event_fields(entry.event)
                line = fields if entry.output is None else fields | {"output": entry.output}
                yield f"{dump(line)}\n".encode()
