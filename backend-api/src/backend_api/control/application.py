"""Take control of a session's computer, keep it, and hand it back."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from backend_api.agent.events import Event, QuestionAsked
from backend_api.agent.questions import MAX_ANSWER_CHARACTERS, Answers
from backend_api.computers.domain import ControlLostError
from backend_api.control.domain import QUESTION, ControlLease
from backend_api.control.ports import ControlLeases
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.application.open_waits import events_since_start, undecided_requests
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.ports import EventLog, SessionRepository, SessionStream
from backend_api.kit.errors import ConflictError, DomainError, NotFoundError, UnavailableError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Notifier, Topic

logger = logging.getLogger(__name__)

LOOK_S = 1.0
HANDED_BACK = "✓"
"""The answer to a request to take control if the person adds no note: a text that is the same in every language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSandbox:
    """The lease of a session's computer, for its user."""

    sessions: SessionRepository
    leases: ControlLeases
    stream: SessionStream
    notifier: Notifier

    async def find(self, session_id: SessionId, user_id: UserId) -> ControlLease | None:
        """The current lease, None if nobody has control. Raises `SessionNotFoundError`."""
        await self.sessions.get(session_id, user_id)
        return await self.leases.find(session_id)

    async def take(
        self, session_id: SessionId, user_id: UserId, client: str, holder: str, *, takes_over: bool = False
    ) -> ControlLease:
        """Take control. Raises `SessionNotFoundError`, and `ControlHeldError` if another client has it."""
        await self.sessions.get(session_id, user_id)
        taken = await self.leases.take(session_id, user_id, client, holder, takes_over=takes_over)
        await self._notify(session_id, taken.events)
        return taken.lease

    async def renew(self, session_id: SessionId, user_id: UserId, client: str) -> ControlLease:
        """Extend the lease. Raises `SessionNotFoundError`, `ControlLostError`."""
        await self.sessions.get(session_id, user_id)
        return await self.leases.renew(session_id, client)

    async def give_back(self, session_id: SessionId, user_id: UserId, client: str | None, note: str | None) -> None:
        """End the lease; if nobody has one, only store the note. Raises `SessionNotFoundError`, `ControlLostError`."""
        await self.sessions.get(session_id, user_id)
        await self._notify(session_id, await self.leases.give_back(session_id, user_id, client, note))

    @asynccontextmanager
    async def watch(self, session_id: SessionId, user_id: UserId, client: str) -> AsyncGenerator[asyncio.Event]:
        """See `Controls`."""
        lost = asyncio.Event()
        own = "" if client else f"socket-{secrets.token_urlsafe(12)}"
        if own:
            try:
                await self.take(session_id, user_id, own, "API")
            except ConflictError as error:
                raise ControlLostError(error.detail) from error
        elif not await self._has(session_id, client):
            raise ControlLostError("You don't control the computer. Take control first.")
        task = asyncio.create_task(self._look(session_id, client or own, lost, renews=bool(own)))
        try:
            yield lost
        finally:
            task.cancel()
            await asyncio.wait({task})
            if own:
                with suppress(ConflictError, NotFoundError, UnavailableError):
                    await self.give_back(session_id, user_id, own, None)

    async def _has(self, session_id: SessionId, client: str) -> bool:
        lease = await self.leases.find(session_id)
        return lease is not None and lease.client == client

    async def _look(self, session_id: SessionId, client: str, lost: asyncio.Event, *, renews: bool) -> None:
        async with self.notifier.subscribe(Topic.CONTROL_CHANGED, session_id) as changes:
            while not lost.is_set():
                try:
                    if renews:
                        await self.leases.renew(session_id, client)
                    elif not await self._has(session_id, client):
                        lost.set()
                except ControlLostError:
                    lost.set()
                except UnavailableError:
                    logger.warning("control could not be looked at", extra={"session_id": session_id})
                await changes.next(LOOK_S)

    async def _notify(self, session_id: SessionId, events: Sequence[Event]) -> None:
        if events:
            await self.notifier.notify(Topic.CONTROL_CHANGED, session_id)
            await self.stream.append(session_id, events)

    async def expire_until_cancelled(self) -> None:
        """End leases that expired, in every process; the first one to find a lease records its end."""
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                for session_id in await self.leases.expired():
                    await self._notify(session_id, await self.leases.expire(session_id))
            except UnavailableError as error:
                logger.info("leases of control are not looked at", extra={"reason": error.detail})
            except Exception:
                logger.exception("looking at leases of control crashed")


@dataclass(frozen=True, slots=True, kw_only=True)
class HandBack:
    """End the lease, and answer the agent that asked for a person to take control."""

    control: ControlSandbox
    log: EventLog
    answer: AnswerWait

    async def __call__(self, session_id: SessionId, user_id: UserId, client: str | None, note: str | None) -> None:
        """Hand control back. Raises `SessionNotFoundError`, `ControlLostError`."""
        await self.control.give_back(session_id, user_id, client, note)
        for question_id in await self._open_requests(session_id, user_id):
            answers = Answers({QUESTION: (note or HANDED_BACK)[:MAX_ANSWER_CHARACTERS]})
            try:
                await self.answer(session_id, user_id, question_id, answers)
            except (ConflictError, NotFoundError) as error:
                logger.info("the request was answered before", extra={"session_id": session_id, "code": error.code})
            except DomainError as error:
                logger.warning("a request was not answered", extra={"session_id": session_id, "code": error.code})

    async def _open_requests(self, session_id: SessionId, user_id: UserId) -> list[str]:
        session = await self.control.sessions.get(session_id, user_id)
        if session.active_run_id is None:
            return []
        events = await events_since_start(self.log, session_id, RunId(session.active_run_id))
        asked = [event.payload for event in undecided_requests(events) if isinstance(event.payload, QuestionAsked)]
        return [one.question_id for one in asked if [part.id for part in one.questions] == [QUESTION]]
