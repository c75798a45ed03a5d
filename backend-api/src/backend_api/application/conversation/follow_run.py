"""Send a message and follow the run that answers it to its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from backend_api.application.conversation.follow_events import FollowEvents
from backend_api.application.conversation.send_message import Message, SendMessage
from backend_api.domain.agent.events import Event, MessageUser, RunFinished, RunQueued, Usage, is_for_the_person
from backend_api.domain.conversation.entity import Accepted, RunId, SessionId
from backend_api.domain.errors import UnavailableError
from backend_api.domain.identity.entity import UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run came to."""

    run_id: RunId
    status: str
    reason: str | None
    messages: list[Event] = field(default_factory=list[Event])
    usage: Usage
    files: list[str] = field(default_factory=list[str])


class RunTakesTooLongError(UnavailableError):
    """The run goes on, but this call waits no longer."""

    code = "run_takes_too_long"


@dataclass(frozen=True, slots=True)
class FollowRun:
    """The events of one run, from its message to `run.finished`; of a run that ended before it read the message, and
    then of the one that was queued for it."""

    send_message: SendMessage
    follow_events: FollowEvents

    async def send_first(self, session_id: SessionId, user_id: UserId, message: Message) -> Accepted:
        """Raises what `SendMessage` raises."""
        return await self.send_message(session_id, user_id, message)

    async def follow_events_of(
        self, session_id: SessionId, user_id: UserId, accepted: Accepted
    ) -> AsyncGenerator[Event | None]:
        """None while nothing happens."""
        run_id = accepted.run_id
        events = self.follow_events(session_id, user_id, accepted.seq - 1)
        try:
            async for event in events:
                if event is None or event.run_id == run_id:
                    yield event
                if event is not None and isinstance(event.payload, RunFinished) and event.payload.run_id == run_id:
                    next_run = await self._queued_with(event, accepted.message_id)
                    if next_run is None:
                        return
                    run_id = next_run
        finally:
            await events.aclose()

    async def _queued_with(self, end: Event, message_id: str) -> RunId | None:
        """The run that was queued for the message by the end of another one; both are stored at once."""
        events = await self.follow_events.log.read(SessionId(end.session_id), after=end.seq or 0, limit=1)
        queued = [event.payload for event in events if isinstance(event.payload, RunQueued)]
        return RunId(queued[0].run_id) if queued and queued[0].message_id == message_id else None

    async def wait_for_result(
        self, session_id: SessionId, user_id: UserId, message: Message, *, timeout_s: float
    ) -> RunResult:
        """The result once it has ended. Raises `RunTakesTooLongError`."""
        accepted = await self.send_first(session_id, user_id, message)
        said: list[Event] = []
        end: RunFinished | None = None
        events = self.follow_events_of(session_id, user_id, accepted)
        try:
            async with asyncio.timeout(timeout_s):
                async for event in events:
                    if event is None or event.seq is None:
                        continue
                    if isinstance(event.payload, MessageUser) or is_for_the_person(event.payload):
                        said.append(event)
                    elif isinstance(event.payload, RunFinished):
                        end = event.payload
        except TimeoutError as error:
            raise RunTakesTooLongError("The run goes on; follow its events.") from error
        finally:
            await events.aclose()
        if end is None:
            raise RunTakesTooLongError("The stream ended before the run did; follow its events.")
        return RunResult(
            run_id=RunId(end.run_id),
            status=end.status,
            reason=end.reason,
            messages=said,
            usage=end.usage,
            files=end.files,
        )
