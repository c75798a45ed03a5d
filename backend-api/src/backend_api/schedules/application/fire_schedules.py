"""Sending scheduled messages, when they are due or when a person requests it."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from backend_api.agent.events import MessageUser
from backend_api.conversations.domain.errors import SessionNotFoundError, SessionQuotaError, TooManyWaitingError
from backend_api.conversations.ports import SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import DomainError, InvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.notifier import Notifier, Topic
from backend_api.schedules.application.occurrences import Due, due_of, merged, refused
from backend_api.schedules.domain.entity import PauseReason, Schedule, ScheduleId
from backend_api.schedules.domain.errors import AccountDisabledError
from backend_api.schedules.ports import CronLines, Fired, Firing, Schedules

logger = logging.getLogger(__name__)

AT_ONCE = 100
TRIED_AGAIN_S = 60.0
"""Seconds until a failed one is tried again, so that it delays no others."""
LEAST_S = 0.05
"""Seconds until the next look while there is something to send, or another process is just sending it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendScheduled:
    """Sends one message of a schedule, and publishes it to the session's readers and to the workers."""

    schedules: Schedules
    stream: SessionStream
    notifier: Notifier

    async def __call__(self, schedule: Schedule, due: Due | None) -> Fired | None:
        """Send the message for an occurrence, or now if `due` is None. Raises what `Schedules.fire` raises."""
        message = MessageUser(message_id=uuid.uuid4().hex, text=schedule.text)
        firing = Firing(message=message)
        if due is not None:
            missed = merged(schedule.missed, due.missed)
            firing = Firing(message=message, due_at=due.at, next_at=due.next_at, missed=missed)
        fired = await self.schedules.fire(schedule, firing)
        if fired is None:
            return None
        if fired.begins_run:
            await self.notifier.notify(Topic.RUN_QUEUED, fired.run_id)
        await self.stream.append(fired.session_id, fired.events)
        return fired


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSchedule:
    """Sends a message at a person's request: its next time stays as it is, and a paused schedule stays paused.

    Raises `ScheduleNotFoundError`, `SessionNotFoundError`, `AccountDisabledError`, `LimitError`.
    """

    schedules: Schedules
    send: SendScheduled
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, schedule_id: ScheduleId, user_id: UserId) -> Schedule:
        """The schedule with its last run."""
        await self.limiter.hit(f"messages:{user_id}", limit=self.limits.messages_per_minute, window_s=60)
        await self.send(await self.schedules.get(schedule_id, user_id), None)
        return await self.schedules.get(schedule_id, user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FireSchedules:
    """The sender in every process. It sleeps until the next schedule is due, a schedule is changed, or `poll_s` have
    passed; of all that wake for an occurrence one stores its message."""

    schedules: Schedules
    lines: CronLines
    send: SendScheduled
    notifier: Notifier
    poll_s: float = 15.0

    async def fire_until_cancelled(self) -> None:
        """Send due messages until cancelled."""
        async with self.notifier.subscribe(Topic.SCHEDULE_CHANGED) as changes:
            while True:
                wait_s = self.poll_s
                try:
                    wait_s = await self.fire_due()
                except DomainError as error:
                    logger.warning("schedules could not be checked", extra={"code": error.code})
                except Exception:
                    logger.exception("schedules could not be checked")
                await changes.next(wait_s)

    async def fire_due(self) -> float:
        """Send what is due; returns the seconds until the next look."""
        upcoming = await self.schedules.upcoming(limit=AT_ONCE)
        if upcoming is None:
            return self.poll_s
        for schedule in upcoming.schedules:
            await self._fire(schedule, upcoming.now)
        if upcoming.schedules:
            return LEAST_S
        return min(max((upcoming.next_look - upcoming.now).total_seconds(), LEAST_S), self.poll_s)

    async def _fire(self, schedule: Schedule, now: datetime) -> None:
        try:
            await self._fire_one(schedule, now)
        except Exception as error:
            code = error.code if isinstance(error, DomainError) else "internal"
            extra = {"schedule_id": schedule.id, "code": code}
            logger.warning("a schedule could not be sent", extra=extra, exc_info=not isinstance(error, DomainError))
            await self.schedules.postpone(schedule, for_s=TRIED_AGAIN_S)

    async def _fire_one(self, schedule: Schedule, now: datetime) -> None:
        try:
            due = due_of(schedule, self.lines, now)
        except InvalidError:
            await self._pause(schedule, "never_due")
            return
        try:
            await self.send(schedule, due)
        except SessionNotFoundError:
            await self._pause(schedule, "session_deleted")
        except AccountDisabledError:
            await self._pause(schedule, "account_disabled")
        except (TooManyWaitingError, SessionQuotaError) as error:
            reason = "queue_full" if isinstance(error, TooManyWaitingError) else "session_quota"
            missed = merged(schedule.missed, refused(due, reason))
            await self.schedules.replace(replace(schedule, missed=missed, next_at=due.next_at))

    async def _pause(self, schedule: Schedule, reason: PauseReason) -> None:
        await self.schedules.replace(replace(schedule, paused=True, pause_reason=reason, next_at=None))
