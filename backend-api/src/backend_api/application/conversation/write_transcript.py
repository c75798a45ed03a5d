"""A session's whole history as a file in its workspace, for an agent that goes on from a summary of it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime

from backend_api.application.conversation.event_json import dump, event_fields
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.ports import EventLog
from backend_api.domain.errors import DomainError
from backend_api.domain.identity.entity import UserId
from backend_api.domain.sandbox.ports import Sandboxes, Upload, Workspace

logger = logging.getLogger(__name__)

FOLDER = ".transcripts"
_LIVING = ("ready", "paused")
_PAGE, _PAGE_BYTES = 1_000, 4_000_000


@dataclass(frozen=True, slots=True)
class WriteTranscript:
    """One event a line, as the API tells it, with what a model read of it as `output` where that is more. A session
    without a computer gets none for it, and one that can't be written is done without: the log keeps all of it."""

    log: EventLog
    sandboxes: Sandboxes
    workspace: Workspace
    now: Callable[[], datetime]

    async def __call__(self, session_id: SessionId, user_id: UserId) -> str | None:
        """The file's path in the workspace, None where there is none."""
        name = f"transcript_{self.now():%Y%m%dT%H%M%S%f}.jsonl"
        try:
            if (await self.sandboxes.status(session_id)).status not in _LIVING:
                return None
            sandbox = await self.sandboxes.ensure(session_id, user_id)
            paths = await self.workspace.upload(sandbox, FOLDER, self._file(session_id, name))
        except DomainError as error:
            fields = {"session_id": session_id, "reason": error.detail}
            logger.warning("a transcript could not be written", extra=fields)
            return None
        return paths[0] if paths else None

    async def _file(self, session_id: SessionId, name: str) -> AsyncIterator[Upload]:
        yield Upload(name=name, chunks=self._lines(session_id))

    async def _lines(self, session_id: SessionId) -> AsyncIterator[bytes]:
        after, is_end = 0, False
        while not is_end:
            page, is_end = await self.log.read_entries(session_id, after=after, limit=_PAGE, most=_PAGE_BYTES)
            for entry in page:
                after = entry.event.seq or after
                fields = event_fields(entry.event)
                told = fields if entry.output is None else fields | {"output": entry.output}
                yield f"{dump(told)}\n".encode()
