"""Stop what a session is doing."""

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
"""Of a gateway that does none."""


@dataclass(frozen=True, slots=True)
class StopRun:
    """Left in the run's inbox first; the worker that holds it is then woken. None when the session is idle, or does
    something else than `run_id`. What runs in the background ends too, also of an idle session, but not where another
    run is at work than `run_id`. Raises `SessionNotFoundError`."""

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
