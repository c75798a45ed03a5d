"""Creating, changing and deleting schedules."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import UserId
from backend_api.kit.notifier import Notifier, Topic
from backend_api.kit.stored_time import to_millisecond
from backend_api.schedules.application.schedule_rules import ScheduleRules
from backend_api.schedules.domain.entity import Schedule, ScheduleId
from backend_api.schedules.domain.errors import ScheduleBusyError
from backend_api.schedules.ports import Schedules

MAX_ATTEMPTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSchedule:
    """Raises `InvalidError`, `SessionNotFoundError`, `ScheduleQuotaError`, `LimitError`."""

    schedules: Schedules
    rules: ScheduleRules
    notifier: Notifier
    limiter: RateLimiter
    limits: Limits
    most: int = 0
    """The most schedules a user may have; 0: no limit."""

    async def __call__(self, user_id: UserId, chosen: Mapping[str, Any]) -> Schedule:
        """`chosen` are fields of a `Schedule`; its times as in `ScheduleRules`."""
        await self.limiter.hit(f"schedules:{user_id}", limit=self.limits.settings_per_minute, window_s=60)
        empty = Schedule(
            id=ScheduleId(uuid.uuid4().hex),
            user_id=user_id,
            text="",
            timezone="UTC",
            created_at=to_millisecond(datetime.fromtimestamp(self.rules.clock(), UTC)),
        )
        schedule = await self.rules.changed(empty, {"session_id": None, "paused": False} | {**chosen})
        await self.schedules.add(schedule, at_most=self.most)
        await self.notifier.notify(Topic.SCHEDULE_CHANGED)
        return schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSchedule:
    """Raises `ScheduleNotFoundError`, `InvalidError`, `SessionNotFoundError`, `ScheduleBusyError`, `LimitError`."""

    schedules: Schedules
    rules: ScheduleRules
    notifier: Notifier
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, schedule_id: ScheduleId, user_id: UserId, chosen: Mapping[str, Any]) -> Schedule:
        """Change a schedule as stored at that moment, as its next message may just be sent."""
        await self.limiter.hit(f"schedules:{user_id}", limit=self.limits.settings_per_minute, window_s=60)
        for _ in range(MAX_ATTEMPTS):
            present = await self.schedules.get(schedule_id, user_id)
            schedule = await self.rules.changed(present, chosen)
            if await self.schedules.replace(schedule):
                await self.notifier.notify(Topic.SCHEDULE_CHANGED)
                return await self.schedules.get(schedule_id, user_id)
        raise ScheduleBusyError("The schedule is being changed by other requests. Try again in a moment.")
