"""A session's whole history as a file in its workspace, for an agent that goes on from a summary of it."""

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
    """One event a line, as the API tells it, with what a model read of it as `output` where that is more; see
    `AgentFiles`."""

    log: EventLog
    files: AgentFiles
    now: Callable[[], datetime]

    async def __call__(self, session_id: SessionId, user_id: UserId) -> str | None:
        """The file's path in the workspace, None where there is none."""
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
                    continue  # the same once more, as it was sent
                fields = event_fields(entry.event)
                line = fields if entry.output is None else fields | {"output": entry.output}
                yield f"{dump(line)}\n".encode()
