"""A traced request as a whole, assembled from the parts it was stored in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend_api.agent.events import LlmRequest
from backend_api.conversations.application.event_json import dump
from backend_api.conversations.domain.errors import EventBodyNotFoundError
from backend_api.conversations.ports import EventLog, SessionRepository
from backend_api.kit.ids import SessionId, UserId

_AT_ONCE = 8
MAX_BYTES = 20_000_000
"""The limit for all parts but the first: more than any model reads, and together with that one less than a page takes.
If a request is longer, the turns right after the first part are left out."""


@dataclass(frozen=True, slots=True)
class ReadModelRequest:
    """The `payload` of `LlmRequest` as JSON, with all its turns, and with `system` and `tools`. `is_cut` marks one that
    is longer than what is stored or assembled."""

    sessions: SessionRepository
    log: EventLog
    most: int = MAX_BYTES

    async def __call__(self, session_id: SessionId, user_id: UserId, seq: int) -> bytes:
        """The request of the event with this number. Raises `SessionNotFoundError`, and `EventBodyNotFoundError` if
        that event is not a model request, or its content is not stored."""
        session = await self.sessions.get(session_id, user_id)
        last = await self._event(session.id, seq)
        if last.omitted is not None:
            raise EventBodyNotFoundError(
                "The request was not stored: the user's stored model calls had reached their limit."
            )
        events = {seq: last}
        for start in range(0, len(last.extends), _AT_ONCE):
            numbers = last.extends[start : start + _AT_ONCE]
            found = await asyncio.gather(*(self._event(session.id, number) for number in numbers))
            events |= dict(zip(numbers, found, strict=True))
        parts: list[dict[str, Any] | bytes] = []
        left, is_cut = self.most, False
        for number, event in sorted(events.items(), reverse=True):
            left -= event.body.size if event.body is not None else 0
            # The first part has the beginning of the request.
            if left < 0 and number not in (seq, min(events)):
                is_cut = True
                continue
            parts.insert(0, await self._payload(session.id, number, event))
        return await asyncio.to_thread(_join_parts, parts, is_cut=is_cut)

    async def _event(self, session_id: SessionId, seq: int) -> LlmRequest:
        events = await self.log.read(session_id, after=seq - 1, limit=1)
        event = events[0].payload if events and events[0].seq == seq else None
        if not isinstance(event, LlmRequest):
            raise EventBodyNotFoundError("This event is not a model request.")
        return event

    async def _payload(self, session_id: SessionId, seq: int, event: LlmRequest) -> dict[str, Any] | bytes:
        return event.payload if event.payload is not None else (await self.log.body(session_id, seq)).content


def _join_parts(parts: Sequence[dict[str, Any] | bytes], *, is_cut: bool) -> bytes:
    read: list[dict[str, Any]] = [json.loads(part) if isinstance(part, bytes) else part for part in parts]
    whole = {**read[-1], **{name: read[0][name] for name in ("system", "tools") if name in read[0]}}
    if is_cut or any(part.get("is_cut") for part in read):
        whole["is_cut"] = True
    del whole["turns"]
    # One by one, since serialising blocks the process.
    turns = ",".join(dump(turn) for part in read for turn in part["turns"])
    return f'{dump(whole)[:-1]},"turns":[{turns}]}}'.encode()
