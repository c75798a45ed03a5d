"""Small memory adapters for driving the agent without stores, models or sandboxes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Literal

from backend_api.application.runs.run_driver import RunDriver, RunOptions
from backend_api.application.runs.worker import Worker
from backend_api.domain.agent.catalogue import ChosenModel
from backend_api.domain.agent.events import (
    Event,
    LivePayload,
    MessageCompleted,
    MessageUser,
    RunFinished,
    RunQueued,
    RunStarted,
    StoredPayload,
)
from backend_api.domain.agent.model import ChatModel, ModelInfo, ModelRequest, Part, UnknownModelError
from backend_api.domain.agent.tools import CallContext, OnOutput, Tool, ToolBox, ToolOutcome
from backend_api.domain.conversation.entity import (
    Accepted,
    Lease,
    OwnerMessage,
    Run,
    RunId,
    RunStatus,
    Session,
    SessionId,
    SessionStatus,
    Taker,
)
from backend_api.domain.conversation.errors import EventBodyNotFoundError, LeaseLostError, SessionNotFoundError
from backend_api.domain.conversation.ports import Body, Recorded, SessionPage
from backend_api.domain.identity.entity import UserId

USER = UserId("user_1")


class MemoryStore:
    """Sessions, log, ledger, tail and signals in one process. `leases` is keyed by run."""

    def __init__(self) -> None:
        self.sessions: dict[SessionId, Session] = {}
        self.events: dict[SessionId, list[Event]] = {}
        self.bodies: dict[tuple[SessionId, int], Body] = {}
        self.runs: dict[RunId, Run] = {}
        self.leases: dict[RunId, Lease] = {}
        self.deltas: list[tuple[float, LivePayload]] = []
        self.published: list[Event] = []
        self.publish_delay_s = 0.0
        self.beats = 0
        self._ids = count(1)
        self.waiting = asyncio.Event()
        """Set once a worker has found nothing to claim."""
        self._woken = asyncio.Event()
        self._changed = asyncio.Condition()
        self._knocks: dict[RunId, asyncio.Queue[None]] = {}
        self.inboxes: dict[RunId, list[OwnerMessage]] = {}

    # Sessions.

    async def add(self, session: Session) -> None:
        self.sessions[session.id] = session
        self.events[session.id] = []

    async def get(self, session_id: Any, user_id: Any = None) -> Any:
        if session_id not in self.sessions:
            raise SessionNotFoundError("no such session")
        return self.sessions[session_id]

    async def page(self, user_id: UserId, *, limit: int, cursor: str | None, query: str | None) -> SessionPage:
        return SessionPage(items=list(self.sessions.values())[:limit], next_cursor=None)

    async def update(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        self.sessions[session_id] = replace(self.sessions[session_id], **changes)
        return self.sessions[session_id]

    async def delete(self, session_id: SessionId, user_id: UserId) -> None:
        del self.sessions[session_id]

    # The log.

    async def append(self, session_id: SessionId, payloads: Sequence[StoredPayload]) -> list[Event]:
        return await self._store(session_id, None, [Recorded(payload=payload) for payload in payloads])

    async def read(self, session_id: SessionId, *, after: int, limit: int) -> list[Event]:
        return [event for event in self.events[session_id] if (event.seq or 0) > after][:limit]

    async def body(self, session_id: SessionId, seq: int) -> Body:
        if (session_id, seq) not in self.bodies:
            raise EventBodyNotFoundError("no body")
        return self.bodies[session_id, seq]

    # The ledger.

    async def accept(
        self,
        session_id: SessionId,
        user_id: UserId,
        message: MessageUser,
        *,
        taker: Taker | None = None,
        interrupt: bool = False,
    ) -> Accepted:
        session = self.sessions[session_id]
        run_id = session.active_run_id
        payloads: list[StoredPayload] = [message]
        if run_id is None:
            run_id = RunId(f"run_{next(self._ids)}")
            payloads.append(RunQueued(run_id=run_id, message_id=message.message_id))
            self.runs[run_id] = Run(
                id=run_id,
                session_id=session_id,
                user_id=user_id,
                message_id=message.message_id,
                status=RunStatus.QUEUED,
                created_at=datetime.now(UTC),
            )
            self.sessions[session_id] = replace(session, active_run_id=run_id, status=SessionStatus.QUEUED)
        events = await self._store(session_id, run_id, [Recorded(payload=payload) for payload in payloads])
        if interrupt and self.runs[run_id].status is RunStatus.RUNNING:
            self._leave(run_id, "redirect", events[0].seq or 0)
        lease = None
        if taker is not None and len(payloads) == 2:
            lease = await self.claim(taker.worker, lease_s=taker.lease_s, model=taker.model)
            events = [event for event in self.events[session_id] if (event.seq or 0) >= (events[0].seq or 0)]
        else:
            await self.announce(run_id)
        return Accepted(
            message_id=message.message_id,
            run_id=run_id,
            seq=events[0].seq or 0,
            duplicate=False,
            events=tuple(events),
            lease=lease,
        )

    async def claim(self, worker: str, *, lease_s: float, model: str, run_id: RunId | None = None) -> Lease | None:
        now = datetime.now(UTC)
        for run in self.runs.values():
            held = self.leases.get(run.id)
            is_free = run.status is RunStatus.QUEUED or (
                run.status is RunStatus.RUNNING and held is not None and held.expires_at <= now
            )
            if not is_free or run_id not in (None, run.id):
                continue
            claimed = replace(run, status=RunStatus.RUNNING, attempt=run.attempt + 1, started_at=run.started_at or now)
            lease = Lease(
                run=claimed,
                worker=worker,
                fence=(held.fence if held else 0) + 1,
                expires_at=now + timedelta(seconds=lease_s),
                resumed=held is not None,
                model=self.sessions[run.session_id].model,
                messages=tuple(self.inboxes.get(run.id, ())),
            )
            self.runs[run.id], self.leases[run.id] = claimed, lease
            started = RunStarted(
                run_id=run.id, message_id=run.message_id, model=model, worker=worker, attempt=claimed.attempt
            )
            await self._store(run.session_id, run.id, [Recorded(payload=started)])
            return lease
        return None

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[OwnerMessage]:
        self._check(lease)
        self.leases[lease.run.id] = replace(
            self.leases[lease.run.id], expires_at=datetime.now(UTC) + timedelta(seconds=lease_s)
        )
        self.beats += 1
        await self._tell()
        return tuple(self.inboxes.get(lease.run.id, ()))

    async def release(self, lease: Lease) -> None:
        self._check(lease)
        self.lapse(lease.run.id)
        self.runs[lease.run.id] = replace(self.runs[lease.run.id], handovers=self.runs[lease.run.id].handovers + 1)

    async def record(self, lease: Lease, items: Sequence[Recorded], *, taken: int = 0) -> list[Event]:
        self._check(lease)
        self.inboxes[lease.run.id] = [one for one in self.inboxes.get(lease.run.id, ()) if one.number > taken]
        return await self._store(lease.run.session_id, lease.run.id, items)

    async def finish(
        self, lease: Lease, finished: RunFinished, *, seen_seq: int, said: Sequence[StoredPayload] = ()
    ) -> list[Event]:
        self._check(lease)
        session_id = lease.run.session_id
        unseen = any(
            isinstance(event.payload, MessageUser) and (event.seq or 0) > seen_seq for event in self.events[session_id]
        )
        if unseen and finished.status == "completed":
            return []
        self.runs[lease.run.id] = replace(
            self.runs[lease.run.id], status=RunStatus(finished.status), reason=finished.reason
        )
        self.sessions[session_id] = replace(self.sessions[session_id], active_run_id=None, status=SessionStatus.IDLE)
        return await self._store(session_id, lease.run.id, [Recorded(payload=last) for last in (*said, finished)])

    async def request_stop(self, session_id: SessionId, user_id: UserId, run_id: RunId | None = None) -> Run | None:
        active = self.sessions[session_id].active_run_id
        if active is None or run_id not in (None, active):
            return None
        self._leave(active, "stop", len(self.events[session_id]))
        return self.runs[active]

    def _leave(self, run_id: RunId, kind: Literal["stop", "redirect"], seq: int) -> None:
        inbox = self.inboxes.setdefault(run_id, [])
        inbox.append(OwnerMessage(number=next(self._ids), kind=kind, seq=seq))

    # The tail.

    async def publish(self, session_id: SessionId, events: Sequence[Event]) -> None:
        self.published.extend(events)

    async def publish_delta(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        if self.publish_delay_s:
            await asyncio.sleep(self.publish_delay_s)
        self.deltas.append((time.perf_counter(), payload))
        await self._tell()

    def follow(self, session_id: SessionId) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        raise NotImplementedError

    # The signals.

    async def announce(self, run_id: RunId) -> None:
        self._woken.set()

    async def wait(self, timeout_s: float) -> RunId | None:
        self.waiting.set()
        try:
            async with asyncio.timeout(timeout_s):
                await self._woken.wait()
        except TimeoutError:
            return
        self._woken.clear()

    async def knock(self, run_id: RunId) -> None:
        if run_id in self._knocks:
            self._knocks[run_id].put_nowait(None)

    @asynccontextmanager
    async def knocks(self, run_id: RunId) -> AsyncIterator[AsyncIterator[None]]:
        queue = self._knocks[run_id] = asyncio.Queue()

        async def all_knocks() -> AsyncIterator[None]:
            while True:
                yield await queue.get()

        yield all_knocks()

    # For tests.

    async def open_session(self, **fields: Any) -> SessionId:
        session_id = SessionId(f"session_{next(self._ids)}")
        now = datetime.now(UTC)
        values: dict[str, Any] = {"title": "", "model": None, "status": SessionStatus.IDLE, **fields}
        await self.add(Session(id=session_id, user_id=USER, created_at=now, updated_at=now, **values))
        return session_id

    async def say(self, session_id: SessionId, text: str, *, interrupt: bool = False) -> RunId:
        message = MessageUser(message_id=f"message_{next(self._ids)}", text=text)
        accepted = await self.accept(session_id, USER, message, interrupt=interrupt)
        if interrupt:
            await self.knock(accepted.run_id)
        return accepted.run_id

    async def stop(self, session_id: SessionId) -> None:
        run = await self.request_stop(session_id, USER)
        if run is not None:
            await self.knock(run.id)

    async def until(self, is_so: Callable[[], bool], *, within_s: float = 30.0) -> None:
        """Wait until something stored or shown makes it so."""
        async with asyncio.timeout(within_s):
            async with self._changed:
                await self._changed.wait_for(is_so)

    async def until_finished(self, run_id: RunId, *, within_s: float = 30.0) -> RunFinished:
        await self.until(lambda: self.runs[run_id].status.is_end, within_s=within_s)
        return self.payloads(self.runs[run_id].session_id, RunFinished)[-1]

    def payloads(self, session_id: SessionId, kind: type[Any]) -> list[Any]:
        return [event.payload for event in self.events[session_id] if isinstance(event.payload, kind)]

    def said(self, session_id: SessionId) -> str:
        return "".join(payload.text for payload in self.payloads(session_id, MessageCompleted))

    def lapse(self, run_id: RunId) -> None:
        """The worker that holds the run is gone."""
        self.leases[run_id] = replace(self.leases[run_id], expires_at=datetime.now(UTC) - timedelta(seconds=1))

    def _check(self, lease: Lease) -> None:
        if self.leases[lease.run.id].fence != lease.fence or self.runs[lease.run.id].status.is_end:
            raise LeaseLostError("another worker holds the run")

    async def _store(self, session_id: SessionId, run_id: RunId | None, items: Sequence[Recorded]) -> list[Event]:
        log = self.events[session_id]
        stored: list[Event] = []
        for item in items:
            seq = len(log) + 1
            log.append(Event(seq=seq, at=datetime.now(UTC), session_id=session_id, run_id=run_id, payload=item.payload))
            stored.append(log[-1])
            if item.body is not None:
                self.bodies[session_id, seq] = item.body
        await self._tell()
        return stored

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


Script = Sequence[Part | BaseException | Callable[[], Awaitable[Any]]]


class ScriptedModel:
    """Answers with one script a call: parts are yielded, errors raised, functions awaited (to hold or to look).

    After the last script the last one is repeated.
    """

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        script = self._scripts[min(len(self.requests), len(self._scripts) - 1)]
        self.requests.append(request)
        for item in script:
            if isinstance(item, BaseException):
                raise item
            if callable(item):
                await item()
            else:
                yield item


@dataclass(kw_only=True)
class OneModel:
    """A catalogue of one model."""

    chat: ChatModel
    info: ModelInfo = field(default_factory=lambda: ModelInfo(id="scripted", label="Scripted", provider="test"))

    def models(self) -> Sequence[ModelInfo]:
        return [self.info]

    def default(self) -> ModelInfo:
        return self.info

    def choose(self, model_id: str | None) -> ChosenModel:
        if model_id not in (None, self.info.id):
            raise UnknownModelError(f"There is no model {model_id}.", field="model")
        return ChosenModel(info=self.info, chat=self.chat)


Handler = Callable[[CallContext, dict[str, Any], OnOutput], Awaitable[ToolOutcome]]


class HandlerBox:
    """Tools given as functions; remembers the calls in the order they started."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[Tool, Handler]] = {}
        self.started: list[tuple[str, dict[str, Any]]] = []
        self.cancelled: list[str] = []

    def add(self, name: str, handler: Handler, *, read_only: bool = False, deadline_ms: int = 60_000) -> None:
        tool = Tool(
            name=name,
            description=name,
            parameters={"type": "object"},
            phrase=f"{name} {{what}}",
            read_only=read_only,
            deadline_ms=deadline_ms,
        )
        self._tools[name] = (tool, handler)

    def tools(self) -> Sequence[Tool]:
        return [tool for tool, _ in self._tools.values()]

    async def call(
        self, context: CallContext, name: str, arguments: dict[str, Any], on_output: OnOutput
    ) -> ToolOutcome:
        self.started.append((name, arguments))
        try:
            return await self._tools[name][1](context, arguments, on_output)
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise


def worker_for(
    store: MemoryStore,
    model: ChatModel,
    tools: ToolBox | None = None,
    *,
    name: str = "worker_1",
    options: RunOptions | None = None,
    sleeps: list[float] | None = None,
    places: int = 50,
    poll_s: float = 0.05,
) -> Worker:
    """A worker over the fakes; retries don't wait, their delays go to `sleeps`."""
    ids = count(1)

    async def no_sleep(seconds: float) -> None:
        if sleeps is not None:
            sleeps.append(seconds)

    driver = RunDriver(
        ledger=store,
        log=store,
        tail=store,
        signals=store,
        queue=store,
        sessions=store,
        catalogue=OneModel(chat=model),
        tools=tools or HandlerBox(),
        options=options or RunOptions(),
        clock=lambda: datetime.now(UTC),
        new_id=lambda kind: f"{kind}_{name}_{next(ids)}",
        sleep=no_sleep,
        jitter=lambda: 0.0,
    )
    return Worker(name=name, driver=driver, max_concurrent_runs=places, poll_s=poll_s)


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[asyncio.Task[None]]:
    """The worker at work for the length of the block."""
    task = asyncio.create_task(worker.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=30)
