"""Model calls made outside of runs, stored in the session they are for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from backend_api.agent.events import Event, LlmRequest, LlmResponse
from backend_api.agent.model_traces import TracedSoFar
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.domain.model_call_quota import ModelCallQuota, SessionCallQuota
from backend_api.conversations.ports import EventLog, SessionStream
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.masking import Mask
from backend_api.runs.application.histories import Histories
from backend_api.runs.application.model_traces import ModelTraces


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTraces:
    """Traces whose user numbers the calls of its role, apart from those of runs."""

    log: EventLog
    stream: SessionStream
    histories: Histories
    mask: Mask
    model_call_quota: ModelCallQuota | None = None
    """The bound on stored model calls; None for no bound."""

    @asynccontextmanager
    async def following(self, session_id: SessionId, user_id: UserId, number: int) -> AsyncGenerator[ModelTraces]:
        """Traces whose next call has this number. What was queued is stored when the block is left."""
        store = _SessionStore(self, session_id, TracedSoFar(last_number=number - 1))
        kept = (
            SessionCallQuota(self.model_call_quota, session_id, user_id) if self.model_call_quota is not None else None
        )
        traces = ModelTraces(store, self.mask, is_on=True, kept=kept)
        delivering = asyncio.create_task(traces.deliver())
        try:
            yield traces
            await traces.flush()
        finally:
            delivering.cancel()
            await asyncio.wait({delivering})


@dataclass(frozen=True, slots=True)
class _SessionStore:
    """`TraceStore` without a lease. Its payloads are short, and stored in their events."""

    owner: SessionTraces
    session_id: SessionId
    traced_so_far: TracedSoFar = field(default_factory=TracedSoFar)

    async def record_trace(self, item: NewEvent) -> Event | None:
        payload = item.payload
        if item.body is not None and isinstance(payload, LlmRequest | LlmResponse):
            payload = replace(payload, payload=json.loads(item.body.content), body=None)
        events = await self.owner.log.append(self.session_id, [payload])
        self.owner.histories.add(self.session_id, events)
        await self.owner.stream.append(self.session_id, events)
        return events[0]
