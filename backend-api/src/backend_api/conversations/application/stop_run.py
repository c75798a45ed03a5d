"""Stops the work of a session."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.ports import BackgroundWork, EventLog, RunLedger, SessionRepository, SessionStream
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Notifier, Topic


class _NoBackgroundWork:
    async def all(self, session_id: SessionId, user_id: UserId) -> None:
        del session_id, user_id


NO_BACKGROUND_WORK = _NoBackgroundWork()
"""The background work of a gateway that has none."""


@dataclass(frozen=True, slots=True)
class StopRun:
    """Puts a stop in the run's inbox, then wakes the worker that holds it. None if the session is idle, or its active
    run is not `run_id`. Background work ends too, also in an idle session, but not if another run than `run_id` is
    active. Raises `SessionNotFoundError`."""

    sessions: SessionRepository
    ledger: RunLedger
    log: EventLog
    stream: SessionStream
    notifier: Notifier
    stop_commands: BackgroundWork

    async def __call__(self, session_id: SessionId, user_id: UserId, run_id: RunId | None = None) -> RunId | None:
        run = await self.ledger.request_stop(session_id, user_id, run_id)
        if run is None:
            if run_id is None:
                await self.stop_commands.all(session_id, user_id)
            return None
        await self.notifier.notify(Topic.RUN_INBOX, run.id)
        if run.status.is_end:
            session = await self.sessions.get(session_id, user_id)
            await self.stream.append(session_id, await self.log.read(session_id, after=session.last_seq - 1, limit=1))
        await self.stop_commands.all(session_id, user_id)
        return run.id
