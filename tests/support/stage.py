"""A conversation in memory: sessions, what is said in them, and workers that answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from backend_api.agent.capability import Capability, ToolSource
from backend_api.agent.catalogue import ResolvedModel, Role
from backend_api.agent.events import Event, LivePayload, MessageCompleted, RunFinished
from backend_api.agent.model import ChatModel, ModelInfo
from backend_api.agent.options import Options
from backend_api.agent.preset import Presets
from backend_api.agents.application.kinds_of_users import KindsOfUsers
from backend_api.background.application.look_at_command import PollCommand
from backend_api.background.application.stop_commands import StopCommands
from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.application.compact_session import CompactSession
from backend_api.conversations.application.send_message import Message, SendMessage
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.application.stop_run import StopRun
from backend_api.conversations.domain.entity import InboxMessage, Lease, Run, RunId
from backend_api.conversations.domain.model_call_quota import ModelCallQuota
from backend_api.conversations.ports import EventLog
from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.kit.masking import Mask
from backend_api.kit.notifier import Subscription, Topic
from backend_api.mcp.application.run_servers import McpServers
from backend_api.models.wire.calls import ModelCalls, RetryPolicy
from backend_api.runs.application.run_services import RunOptions, RunServices, no_mcp_tools
from backend_api.runs.application.sandbox_keeper import KeepSandbox, no_sandbox
from backend_api.runs.application.worker import Worker
from backend_api.runs.capabilities import capabilities
from support.backend_stores import add_session
from support.memory.background_commands import MemoryBackgroundCommands
from support.memory.run_ledger import MemoryRunLedger
from support.memory.sandbox_commands import MemorySandboxCommands
from support.memory.sandboxes import MemorySandboxes, MemoryWorkspace
from support.memory.session_stream import MemorySessionStream
from support.memory.sessions import MemoryEventLog, MemorySessionRepository
from support.memory.store import MemoryStore, utc_now
from support.modules import OF_MODULES
from support.scripted import SCRIPTED, HandlerBox, OneModel

USER = UserId("user_1")


class RecordingStream(MemorySessionStream):
    """Keeps what was shown, and when; may take its time."""

    def __init__(self) -> None:
        super().__init__()
        self.delay_s = 0.0
        self.deltas: list[tuple[float, LivePayload]] = []
        self.published: list[Event] = []

    async def append(self, session_id: SessionId, events: Sequence[Event]) -> None:
        self.published.extend(events)
        await super().append(session_id, events)

    async def show(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        self.deltas.append((time.perf_counter(), payload))
        await super().show(session_id, run_id, payload)


class WatchedNotifier(InProcessNotifier):
    """`waiting` is set once a worker has found nothing to claim. `is_silent` loses everything, as a lost backend
    does."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = asyncio.Event()
        self.is_silent = False

    def notify_here(self, topic: Topic, about: str | None) -> None:
        if not self.is_silent:
            super().notify_here(topic, about)

    @asynccontextmanager
    async def subscribe(self, topic: Topic, about: str | None = None) -> AsyncGenerator[Subscription]:
        async with super().subscribe(topic, about) as subscription:
            yield _Watched(subscription, self.waiting) if topic is Topic.RUN_QUEUED else subscription


@dataclass(frozen=True, slots=True)
class _Watched:
    inner: Subscription
    waiting: asyncio.Event

    async def next(self, timeout_s: float) -> str | None:
        self.waiting.set()
        return await self.inner.next(timeout_s)


class WatchedLedger(MemoryRunLedger):
    """`renewed` is set once a heartbeat came."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.renewed = asyncio.Event()

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[InboxMessage]:
        messages = await super().renew(lease, lease_s=lease_s)
        self.renewed.set()
        return messages


class Stage:
    """The memory adapters over one store; a test may put adapters of its own in their places."""

    def __init__(
        self,
        store: MemoryStore | None = None,
        *,
        ledger: MemoryRunLedger | None = None,
        log: EventLog | None = None,
        stream: RecordingStream | None = None,
        notifier: WatchedNotifier | None = None,
    ) -> None:
        self.store = store or MemoryStore()
        self.sessions = MemorySessionRepository(self.store)
        self.ledger = ledger or WatchedLedger(self.store)
        self.log = log or MemoryEventLog(self.store)
        self.stream = stream or RecordingStream()
        self.notifier = notifier or WatchedNotifier()
        limits = Limits(messages_per_minute=0)
        session_sandbox = SessionSandbox(self.sessions, MemorySandboxes())
        self.workspace = MemoryWorkspace()
        attached = CheckAttachments(session_sandbox, self.workspace, lambda _: True)
        self._send = SendMessage(self.ledger, self.stream, self.notifier, InProcessRateLimiter(), limits, attached)
        self._compact = CompactSession(self.ledger, self.stream, self.notifier, InProcessRateLimiter(), limits)
        self.sandboxes, self.sandbox_commands = MemorySandboxes(), MemorySandboxCommands()
        self.background = MemoryBackgroundCommands(self.store)
        self.look_at_command = PollCommand(
            commands=self.background,
            sandboxes=self.sandboxes,
            tools=self.sandbox_commands,
            stream=self.stream,
            notifier=self.notifier,
            clock=utc_now,
        )
        self.stop_commands = StopCommands(self.sessions, self.background, self.look_at_command)
        self._stop = StopRun(self.sessions, self.ledger, self.log, self.stream, self.notifier, self.stop_commands)

    async def open_session(self, title: str = "", **options: Any) -> SessionId:
        session_id = await add_session(self.sessions, USER, title)
        if options:
            await self.sessions.update(session_id, USER, {"options": options})
        return session_id

    async def choose(self, session_id: SessionId, preset: str | None) -> None:
        await self.sessions.update(session_id, USER, {"preset": preset})

    async def say(
        self, session_id: SessionId, text: str, *, interrupt: bool = False, attachments: Sequence[str] = ()
    ) -> RunId:
        """The files that are attached are there."""
        self.workspace.files.setdefault(session_id, {}).update(dict.fromkeys(attachments, b"\0"))
        message = Message(text=text, interrupt=interrupt, attachments=tuple(attachments))
        return (await self._send(session_id, USER, message)).run_id

    async def compact(self, session_id: SessionId, focus: str | None) -> RunId:
        return await self._compact(session_id, USER, focus)

    async def stop(self, session_id: SessionId, run_id: RunId | None = None) -> None:
        await self._stop(session_id, USER, run_id)

    def run(self, run_id: RunId) -> Run:
        return self.store.runs[run_id].run

    def events(self, session_id: SessionId) -> list[Event]:
        return self.store.sessions[session_id].events

    def payloads(self, session_id: SessionId, kind: type[Any]) -> list[Any]:
        return [event.payload for event in self.events(session_id) if isinstance(event.payload, kind)]

    def said(self, session_id: SessionId) -> str:
        return "".join(payload.text for payload in self.payloads(session_id, MessageCompleted))

    async def until_finished(self, run_id: RunId, *, within_s: float = 30.0) -> RunFinished:
        await until(lambda: self.run(run_id).status.is_end, within_s=within_s)
        ends = self.payloads(self.run(run_id).session_id, RunFinished)
        return next(end for end in ends if end.run_id == run_id)

    def lapse(self, run_id: RunId) -> None:
        """The worker that holds the run is gone."""
        self.store.runs[run_id].expires_at = datetime.now(UTC) - timedelta(seconds=1)


async def until(is_so: Callable[[], bool], *, within_s: float = 30.0) -> None:
    """Wait until something stored or shown makes it so."""
    async with asyncio.timeout(within_s):
        while not is_so():
            await asyncio.sleep(0.001)


def worker_for(
    stage: Stage,
    model: ChatModel,
    tools: ToolSource | None = None,
    *,
    name: str = "worker_1",
    options: RunOptions | None = None,
    sleeps: list[float] | None = None,
    sleep: Callable[[float], Awaitable[None]] | None = None,
    slots: int = 50,
    poll_s: float = 0.05,
    clock: Callable[[], datetime] = utc_now,
    max_turns: int = 50,
    defaults: Options | None = None,
    presets: Presets | None = None,
    info: ModelInfo = SCRIPTED,
    announces: bool = False,
    roles: Mapping[Role, ResolvedModel] | None = None,
    approval_timeout_s: float = 300.0,
    table: Callable[..., Sequence[Capability]] = capabilities,
    secrets: Sequence[str] = (),
    keep_sandbox: KeepSandbox = no_sandbox,
    model_call_quota: ModelCallQuota | None = None,
    of_modules: Sequence[Capability] = OF_MODULES,
    kinds: KindsOfUsers | None = None,
    mcp: McpServers | None = None,
    **bounds: int,
) -> Worker:
    """A worker on the stage; retries don't wait, their delays go to `sleeps`. `bounds` are those of a run, `table` what
    makes its capabilities of them."""
    ids = count(1)

    async def no_sleep(seconds: float) -> None:
        if sleeps is not None:
            sleeps.append(seconds)

    policy, prices = RetryPolicy(), info.prices
    calls = ModelCalls(model, info.provider, policy, prices=prices, sleep=sleep or no_sleep, jitter=lambda: 0.0)
    services = RunServices(
        ledger=stage.ledger,
        log=stage.log,
        stream=stage.stream,
        notifier=stage.notifier,
        sessions=stage.sessions,
        catalogue=OneModel(chat=calls, info=info, roles=roles or {}),
        capabilities=table(
            tools or HandlerBox(), approval_timeout_s=approval_timeout_s, of_modules=of_modules, **bounds
        ),
        options=options or RunOptions(),
        clock=clock,
        new_id=lambda kind: f"{kind}_{name}_{next(ids)}",
        mask=Mask(secrets),
        request_end_of_commands=stage.background.request_end,
        keep_sandbox=keep_sandbox,
        model_call_quota=model_call_quota,
        keep_sandbox_every_s=0.01,
        defaults=defaults or Options(max_turns=max_turns),
        presets=presets or Presets(),
        kinds=kinds or KindsOfUsers(),
        mcp_tools=mcp.of_run if mcp is not None else no_mcp_tools,
    )
    return Worker(name=name, services=services, max_concurrent_runs=slots, poll_s=poll_s, announces=announces)


@asynccontextmanager
async def working(worker: Worker) -> AsyncGenerator[asyncio.Task[None]]:
    """The worker at work for the length of the block."""
    task = asyncio.create_task(worker.work())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=30)
