"""The present state of a session, for a page that opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from backend_api.agent.events import Event, PlanUpdated, Task, Todo, Usage
from backend_api.background.domain import BackgroundCommand
from backend_api.conversations.domain.entity import Run, Session
from backend_api.conversations.ports import RunLedger, SessionRepository, Transcripts
from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import SessionId, UserId
from backend_api.message_queue.domain import Queue
from backend_api.previews.domain.entity import OpenedPort
from backend_api.resources.domain import Resource
from backend_api.sandboxes.domain.entity import SandboxStatus
from backend_api.sandboxes.ports import Sandboxes

MESSAGES = 500
MESSAGE_BYTES = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state as of event `session.last_seq`."""

    session: Session
    messages: list[Event]
    """The last messages."""
    has_more: bool
    """Whether there are older messages."""
    run: Run | None
    plan: PlanUpdated | None
    tasks: list[Task]
    todos: list[Todo]
    background: list[BackgroundCommand]
    """The running commands."""
    ports: list[OpenedPort]
    resources: list[Resource]
    queue: Queue
    usage: Usage
    sandbox: SandboxStatus


class CommandsOfSession(Protocol):
    """The commands that run in the background."""

    async def of_session(self, session_id: SessionId, *, ended: int) -> list[BackgroundCommand]:
        """The running ones first, then the `ended` last ones that ended."""
        ...


class PortsOfSession(Protocol):
    """The ports that are open to the user's browser."""

    async def of_session(self, session_id: SessionId) -> list[OpenedPort]:
        """The open ports, the latest last."""
        ...


class ResourcesOfSession(Protocol):
    """The resources that agent and person keep with the session."""

    async def of_session(self, session_id: SessionId) -> list[Resource]:
        """The resources in the order in which they were added."""
        ...


class QueueOfSession(Protocol):
    """The messages that wait for the end of the active run."""

    async def of_session(self, session_id: SessionId) -> Queue:
        """The queue, the next message first."""
        ...


class _NoQueue:
    async def of_session(self, session_id: SessionId) -> Queue:
        del session_id
        return Queue(items=[], held=None)


NO_QUEUE = _NoQueue()


class _None:
    async def of_session(self, session_id: SessionId, *, ended: int = 0) -> list[Any]:
        del session_id, ended
        return []


NONE = _None()
"""The empty source for a gateway without such a module."""


@dataclass(frozen=True, slots=True)
class ReadState:
    """Raises `SessionNotFoundError`. A manager that does not answer is a status, not an error."""

    sessions: SessionRepository
    transcripts: Transcripts
    ledger: RunLedger
    sandboxes: Sandboxes
    commands: CommandsOfSession
    ports: PortsOfSession
    resources: ResourcesOfSession
    queue: QueueOfSession

    async def __call__(self, session_id: SessionId, user_id: UserId, *, messages: int = MESSAGES) -> State:
        session = await self.sessions.get(session_id, user_id)
        last = session.last_seq
        said, has_more = await self._last_messages(session_id, last, messages)
        usage = await self.transcripts.usage(session_id)
        plan = await self.transcripts.plan(session_id, up_to=last)
        tasks = await self.transcripts.tasks(session_id, up_to=last)
        todos = await self.transcripts.todos(session_id, up_to=last)
        background = await self.commands.of_session(session_id, ended=0)
        ports = await self.ports.of_session(session_id)
        resources = await self.resources.of_session(session_id)
        queue = await self.queue.of_session(session_id)
        run = await self.ledger.get(session.active_run_id) if session.active_run_id else None
        try:
            sandbox = await self.sandboxes.status(session_id)
        except UnavailableError as error:
            sandbox = SandboxStatus(status="failed", reason=error.detail, retryable=True, has_desktop=False)
        return State(
            session=session,
            messages=said,
            has_more=has_more,
            run=run,
            plan=plan,
            tasks=tasks,
            todos=todos,
            background=background,
            ports=ports,
            resources=resources,
            queue=queue,
            usage=usage,
            sandbox=sandbox,
        )

    async def _last_messages(self, session_id: SessionId, up_to: int, limit: int) -> tuple[list[Event], bool]:
        """At most `limit` messages, and whether there are older ones."""
        if limit == 0:
            return [], bool(await self.transcripts.messages(session_id, up_to=up_to, limit=1, most=1))
        messages = await self.transcripts.messages(session_id, up_to=up_to, limit=limit, most=MESSAGE_BYTES)
        first = min((message.seq or 0 for message in messages), default=0)
        older = first > 1 and await self.transcripts.messages(session_id, up_to=first - 1, limit=1, most=1)
        return messages, bool(older)
