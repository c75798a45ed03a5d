"""Model calls, stored with request and response in sessions that have tracing on.

A call is made at once and stored in the background: only the end of a run waits for the store, for a moment, and what
can't be stored is left out. Failed attempts are part of the call's response; storing each as a call of its own would
store the same request again and again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.events import (
    BodyReference,
    Event,
    FailedAttempt,
    LlmOutcome,
    LlmRequest,
    LlmResponse,
    ModelRole,
    Usage,
)
from backend_api.agent.model import (
    AddedPart,
    FinishPart,
    ModelError,
    ModelRequest,
    NextAttempt,
    Part,
    TextPart,
    ThinkingPart,
    ThoughtSoFarPart,
    ToolCallPart,
    ToolRequest,
    UsagePart,
)
from backend_api.agent.model_traces import OF_AN_AGENT, TracedSoFar
from backend_api.agent.new_events import Body, NewEvent
from backend_api.conversations.application.event_json import dump
from backend_api.conversations.domain.model_call_quota import SessionCallQuota
from backend_api.kit.errors import DomainError
from backend_api.kit.masking import Mask
from backend_api.runs.application.traced_requests import SentBefore, write_request

logger = logging.getLogger(__name__)

INLINE_BYTES = 2_000
"""Longest payload in bytes that is stored in its event; longer ones are stored beside it."""
MEDIA_TYPE = "application/json"
MOST_WAITING = 200
FLUSH_S = 1.0
"""The longest time in seconds that the end of a run waits for calls that are still to be stored."""
MAX_ERROR_CHARACTERS = 1_000


class TraceStore(Protocol):
    """The store for calls: the journal of the run."""

    @property
    def traced_so_far(self) -> TracedSoFar:
        """The calls that are stored already, by whichever worker."""
        ...

    async def record_trace(self, item: NewEvent) -> Event | None:
        """Store it after everything passed in before. Raises what recording raises."""
        ...


@dataclass(slots=True)
class _Call:
    """A call in progress."""

    number: int
    role: ModelRole
    model: ResolvedModel
    agent_id: str | None
    request: ModelRequest
    began: float
    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[ToolRequest] = field(default_factory=list[ToolRequest])
    attempts: list[FailedAttempt] = field(default_factory=list[FailedAttempt])
    usage: Usage = field(default_factory=Usage)
    outcome: LlmOutcome = "stopped"
    fault: ModelError | None = None
    first_at: float | None = None
    ended: float = 0.0

    def add(self, part: Part, now: float) -> None:
        """Add the next part of the answer."""
        if self.first_at is None and not isinstance(part, UsagePart):
            self.first_at = now
        match part:
            case TextPart(text=text):
                self.texts.append(text)
            case ThinkingPart(text=text):
                self.thoughts.append(text)
            case ThoughtSoFarPart():
                self.thoughts += self.texts
                self.texts = []
            case AddedPart():
                pass
            case ToolCallPart(request=request):
                self.calls.append(request)
            case UsagePart(usage=usage):
                self.usage = usage
            case FinishPart(reason=reason):
                self.outcome = reason


class ModelTraces:
    """The traces of one run. If tracing is off, models are returned unwrapped and the store is not used."""

    def __init__(
        self,
        store: TraceStore,
        mask: Mask,
        *,
        is_on: bool,
        kept: SessionCallQuota | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Set up the traces. Without `kept`, the number of stored calls is unbounded."""
        self.is_on = is_on
        self._store = store
        self._kept = kept
        self._mask = mask
        self._clock = clock
        self._last_number = 0
        self._sent: dict[str | None, SentBefore] = {}
        self._waiting: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue(MOST_WAITING)

    def traced(self, model: ResolvedModel, role: ModelRole, agent_id: str | None = None) -> ResolvedModel:
        """The same model, with each of its calls stored, whoever makes them."""
        return replace(model, chat=_TracedModel(self, model, role, agent_id)) if self.is_on else model

    async def deliver(self) -> None:
        """Store what was queued, in order, until cancelled."""
        while True:
            store = await self._waiting.get()
            try:
                await store()
            except DomainError as error:
                logger.info("a model call was not stored", extra={"reason": error.detail})
            except Exception:
                logger.exception("a model call could not be stored")
            finally:
                self._waiting.task_done()

    async def flush(self) -> None:
        """Wait until everything queued is stored, for `FLUSH_S` seconds at most."""
        if not self.is_on:
            return
        try:
            async with asyncio.timeout(FLUSH_S):
                await self._waiting.join()
        except TimeoutError:
            logger.warning("a run does not wait any longer for its model calls to be stored")

    def forget(self, agent_id: str) -> None:
        """Drop the last request of an agent that has ended, as it makes no more calls."""
        self._sent.pop(agent_id, None)

    def begin(self, request: ModelRequest, model: ResolvedModel, role: ModelRole, agent_id: str | None) -> _Call:
        """Start a record of a call that is about to be made."""
        self._last_number = max(self._last_number, self._store.traced_so_far.last_number) + 1
        call = _Call(self._last_number, role, model, agent_id, request, self._clock())
        self._enqueue(lambda: self._store_request(call))
        return call

    def end(self, call: _Call) -> None:
        """Record the end of a call, however it ended."""
        call.ended = self._clock()
        self._enqueue(lambda: self._store_response(call))

    def failed_attempt(self, call: _Call, error: ModelError) -> None:
        """Record a failed attempt of a call that is tried again."""
        at_ms = _ms(self._clock() - call.began)
        call.attempts.append(FailedAttempt(code=error.code, text=self._masked_detail(error), at_ms=at_ms))

    def now(self) -> float:
        return self._clock()

    def _enqueue(self, store: Callable[[], Awaitable[None]]) -> None:
        try:
            self._waiting.put_nowait(store)
        except asyncio.QueueFull:
            logger.warning("a model call was not stored", extra={"reason": "too many wait to be stored"})

    async def _has_room(self) -> bool:
        return self._kept is None or await self._kept.has_room()

    async def _store_event(self, event: LlmRequest | LlmResponse, payload: dict[str, Any], text: str) -> Event | None:
        """Store the event with its payload in it, or beside it."""
        content = text.encode("utf-8", "replace")
        item = NewEvent(payload=replace(event, payload=payload))
        if len(content) > INLINE_BYTES:
            reference = BodyReference(size=len(content), media_type=MEDIA_TYPE)
            body = Body(content=content, media_type=MEDIA_TYPE)
            item = NewEvent(payload=replace(event, body=reference), body=body)
        stored = await self._store.record_trace(item)
        if stored is not None and self._kept is not None:
            await self._kept.add(len(content))
        return stored

    async def _store_request(self, call: _Call) -> None:
        told = LlmRequest(
            number=call.number,
            role=call.role,
            model=call.request.model,
            provider=call.model.info.provider,
            turn_count=len(call.request.turns),
            digest="",
            agent_id=call.agent_id,
        )
        if not await self._has_room():
            await self._store.record_trace(NewEvent(payload=replace(told, omitted="limit")))
            return
        known, stored = self._sent.get(call.agent_id), self._store.traced_so_far.requests.get(call.agent_id)
        if call.role == "title":
            known = stored = None
        # Writing a long request takes a while: in a thread it does not hold up other answers.
        written = await asyncio.to_thread(write_request, call.request, self._mask, known=known, stored=stored)
        told = replace(told, digest=written.digest, extends=[*written.extends])
        event = await self._store_event(told, written.payload, written.text)
        if event is not None and event.seq is not None and call.role in OF_AN_AGENT:
            self._sent[call.agent_id] = replace(written.sent, seqs=(*written.extends, event.seq))

    async def _store_response(self, call: _Call) -> None:
        fault = call.fault
        told = LlmResponse(
            number=call.number,
            role=call.role,
            model=call.request.model,
            outcome=call.outcome,
            usage=call.usage,
            duration_ms=_ms(call.ended - call.began),
            first_ms=_ms(call.first_at - call.began) if call.first_at is not None else None,
            code=fault.code if fault is not None else None,
            error=self._masked_detail(fault) if fault is not None else None,
            attempts=call.attempts,
            agent_id=call.agent_id,
        )
        if not await self._has_room():
            await self._store.record_trace(NewEvent(payload=replace(told, omitted="limit")))
            return
        said = await asyncio.to_thread(self._payload_of, call)
        await self._store_event(told, said, dump(said))

    def _payload_of(self, call: _Call) -> dict[str, Any]:
        # If thinking is off, thinking that a provider sends all the same is stored nowhere.
        thinking = "" if call.request.thinking == "off" else "".join(call.thoughts)
        return {
            "text": self._mask.text("".join(call.texts)),
            "thinking": self._mask.text(thinking),
            "calls": [
                {
                    "id": asked.call_id,
                    "name": asked.name,
                    "arguments": self._mask.text(asked.raw)
                    if asked.arguments is None
                    else self._mask.value(asked.arguments),
                }
                for asked in call.calls
            ],
        }

    def _masked_detail(self, error: ModelError) -> str:
        return self._mask.text(error.detail)[:MAX_ERROR_CHARACTERS]


@dataclass(frozen=True, slots=True)
class _TracedModel:
    """`ChatModel`: the one place that all calls of a session pass through, whatever their purpose."""

    traces: ModelTraces
    model: ResolvedModel
    role: ModelRole
    agent_id: str | None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        traces = self.traces
        call = traces.begin(request, self.model, self.role, self.agent_id)

        def failed_attempt(error: ModelError, following: NextAttempt) -> None:
            traces.failed_attempt(call, error)
            if request.on_failed_attempt is not None:
                request.on_failed_attempt(error, following)

        told = replace(request, on_failed_attempt=failed_attempt)
        try:
            async with aclosing(self.model.chat.stream(told)) as parts:
                async for part in parts:
                    call.add(part, traces.now())
                    yield part
        except ModelError as error:
            call.outcome, call.fault = "error", error
            raise
        except Exception:
            call.outcome = "error"
            raise
        finally:
            traces.end(call)


def _ms(seconds: float) -> int:
    return max(round(seconds * 1000), 0)
