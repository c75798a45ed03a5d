"""Sends a message and follows the run that answers it to its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from backend_api.agent.changed_files import add_changed
from backend_api.agent.events import (
    Event,
    FilesChanged,
    MessageUser,
    MessageWithdrawn,
    RunFinished,
    RunQueued,
    Usage,
    UsageUpdated,
    is_for_the_person,
)
from backend_api.agent.run_progress import ASKED
from backend_api.agent.shown_order import Reordered
from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.application.open_waits import events_since_start, undecided_requests
from backend_api.conversations.application.send_message import Message, SendMessage
from backend_api.conversations.domain.entity import Accepted, RunId, RunStatus
from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import SessionId, UserId

_MOST_ASKED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run; for a waiting one, what it `waits_for`, and its messages and usage so far."""

    run_id: RunId
    status: str
    reason: str | None
    messages: list[Event] = field(default_factory=list[Event])
    usage: Usage
    files: list[str] = field(default_factory=list[str])
    waits_for: list[Event] = field(default_factory=list[Event])


class RunTakesTooLongError(UnavailableError):
    """The run continues, but this call waits no longer."""

    code = "run_takes_too_long"


@dataclass(frozen=True, slots=True)
class FollowRun:
    """The events of one run, from its message to `run.finished`. If the run ended before it read the message, the run
    queued for it follows."""

    send_message: SendMessage
    follow_events: FollowEvents

    async def send_first(self, session_id: SessionId, user_id: UserId, message: Message) -> Accepted:
        """Sends the message. Raises what `SendMessage` raises."""
        return await self.send_message(session_id, user_id, message)

    async def follow_events_of(
        self, session_id: SessionId, user_id: UserId, accepted: Accepted
    ) -> AsyncGenerator[Event | None]:
        """The events of the run, and None while nothing happens."""
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
        """The run that was queued for the message when another one ended; both events are stored together."""
        events = await self.follow_events.log.read(SessionId(end.session_id), after=end.seq or 0, limit=1)
        queued = [event.payload for event in events if isinstance(event.payload, RunQueued)]
        return RunId(queued[0].run_id) if queued and queued[0].message_id == message_id else None

    async def wait_for_result(
        self, session_id: SessionId, user_id: UserId, message: Message, *, timeout_s: float
    ) -> RunResult:
        """The result once the run has ended, or waits for a person. Raises `RunTakesTooLongError`."""
        accepted = await self.send_first(session_id, user_id, message)
        if waiting := await self._waiting_with(session_id, accepted):
            return waiting
        far = _Progress()
        events = self.follow_events_of(session_id, user_id, accepted)
        try:
            async with asyncio.timeout(timeout_s):
                async for event in events:
                    if event is None or event.seq is None:
                        continue
                    far.add_event(event)
                    if isinstance(event.payload, ASKED):
                        return far.result(waits_for=[event, *await self._read_questions(event)])
        except TimeoutError as error:
            raise RunTakesTooLongError("The run has not ended and continues. Follow its events.") from error
        finally:
            await events.aclose()
        if far.end is None:
            raise RunTakesTooLongError("The stream ended before the run did. Follow the run's events.")
        return far.result()

    async def _waiting_with(self, session_id: SessionId, accepted: Accepted) -> RunResult | None:
        """The result if the message joined a run that was waiting already, and still is."""
        run = await self.send_message.ledger.get(accepted.run_id)
        if run is None or run.status != RunStatus.WAITING:
            return None
        known = await events_since_start(self.follow_events.log, session_id, run.id)
        asked = undecided_requests(known)
        if not asked or (asked[0].seq or 0) > accepted.seq:
            return None
        far = _Progress()
        for event in known:
            if (event.seq or 0) >= accepted.seq or isinstance(event.payload, UsageUpdated):
                far.add_event(event)
        return far.result(waits_for=asked)

    async def _read_questions(self, first: Event) -> list[Event]:
        """All that the run waits for, beginning with this event; they are stored together."""
        events = await self.follow_events.log.read(SessionId(first.session_id), after=first.seq or 0, limit=_MOST_ASKED)
        return [*takewhile(lambda event: isinstance(event.payload, ASKED), events)]


@dataclass(slots=True)
class _Progress:
    """The facts about a run collected from its events."""

    run_id: str = ""
    said: list[Event] = field(default_factory=list[Event])
    usage: Usage = field(default_factory=Usage)
    files: list[str] = field(default_factory=list[str])
    end: RunFinished | None = None
    _order: Reordered[Event] = field(default_factory=Reordered[Event])
    """Messages stand where they are shown, which is not always where the log has them."""

    def add_event(self, event: Event) -> None:
        self.run_id = event.run_id or self.run_id
        is_said = isinstance(event.payload, MessageUser) or is_for_the_person(event.payload)
        if event.seq is not None:
            self.said += self._order.add(event, event if is_said else None)
        match event.payload:
            case MessageWithdrawn(at_seq=at_seq):
                self.said = [one for one in self.said if one.seq != at_seq]
            case UsageUpdated(usage=usage):
                self.usage = usage
            case FilesChanged() as changed:
                add_changed(self.files, changed)
            case RunFinished() as end:
                self.end, self.usage, self.files = end, end.usage, end.files
            case _:
                pass

    def result(self, waits_for: Sequence[Event] = ()) -> RunResult:
        return RunResult(
            run_id=RunId(self.run_id),
            status="waiting" if waits_for or self.end is None else self.end.status,
            reason=self.end.reason if self.end and not waits_for else None,
            messages=[*self.said, *self._order.rest()],
            usage=self.usage,
            files=self.files,
            waits_for=[*waits_for],
        )
