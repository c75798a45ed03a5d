"""Validation of schedules, and their first occurrence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.ports import SessionRepository
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.invisible_characters import is_blank
from backend_api.schedules.application.occurrences import first_at
from backend_api.schedules.domain.entity import MAX_AHEAD, MAX_CRON_CHARACTERS, MAX_TEXT_CHARACTERS, Schedule
from backend_api.schedules.ports import CronLines

OF_NEW_SESSION = ("model", "preset", "options")
_NO_NEW_SESSION: dict[str, Any] = {"model": None, "preset": None, "options": {}}
TIMING = frozenset({"at", "cron", "timezone", "paused"})
_EITHER = "Give either at, a time, or cron, a line of five fields, but not both."


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRules:
    """`at` in the chosen fields is an ISO 8601 text; without an offset it is a time of `timezone`."""

    lines: CronLines
    sessions: SessionRepository
    rules_of: Callable[[UserId], Awaitable[OptionRules]]
    clock: Callable[[], float]

    async def changed(self, present: Schedule, chosen: Mapping[str, Any]) -> Schedule:
        """The schedule with the chosen fields changed. Its next time stays unless a field of its times is chosen.

        Raises `InvalidError`, `SessionNotFoundError`.
        """
        schedule = replace(present, **self._read(present, chosen))
        self._check_text(schedule)
        self._check_when(schedule)
        # To resume a schedule that was paused because its session was gone, the person must have fixed that: check it.
        goes_on = "paused" in chosen and not schedule.paused
        if goes_on or "session_id" in chosen or any(name in chosen for name in OF_NEW_SESSION):
            await self._check_session(schedule)
        if TIMING.isdisjoint(chosen):
            return schedule
        # A time that was just given is checked even if nothing is sent for now.
        first = self._first(schedule) if not schedule.paused or chosen.get("at") is not None else None
        if schedule.paused:
            return replace(schedule, next_at=None)
        return replace(schedule, pause_reason=None, next_at=first)

    def _read(self, present: Schedule, chosen: Mapping[str, Any]) -> dict[str, Any]:
        changes = {**chosen}
        if changes.get("at") is not None and changes.get("cron") is not None:
            raise InvalidError(_EITHER, field="body.at")
        timezone = changes.get("timezone") or present.timezone
        self.lines.check_zone(timezone, field="body.timezone")
        if changes.get("at") is not None:
            changes |= {"at": self._time(changes["at"], timezone), "cron": None}
        elif changes.get("cron") is not None:
            changes["at"] = None
        if changes.get("session_id") is not None:
            changes = _NO_NEW_SESSION | changes
        return changes

    def _time(self, text: str, timezone: str) -> datetime:
        try:
            at = datetime.fromisoformat(text)
            at = self.lines.local(at, timezone) if at.tzinfo is None else at.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            reason = "Not a valid time. Give it as 2030-12-31T09:00, in the time zone, or with an offset at its end."
            raise InvalidError(reason, field="body.at") from error
        return at.replace(microsecond=0)

    def _check_text(self, schedule: Schedule) -> None:
        if is_blank(schedule.text):
            raise InvalidError("Enter the message for the agent.", field="body.text")
        if len(schedule.text) > MAX_TEXT_CHARACTERS:
            reason = f"The text of a schedule has at most {MAX_TEXT_CHARACTERS} characters."
            raise InvalidError(reason, field="body.text")

    def _check_when(self, schedule: Schedule) -> None:
        if (schedule.at is None) == (schedule.cron is None):
            raise InvalidError(_EITHER, field="body.at")
        if schedule.cron is not None:
            if len(schedule.cron) > MAX_CRON_CHARACTERS:
                raise InvalidError(f"A cron line has at most {MAX_CRON_CHARACTERS} characters.", field="body.cron")
            self.lines.check(schedule.cron, field="body.cron")

    async def _check_session(self, schedule: Schedule) -> None:
        if schedule.session_id is not None:
            for name in OF_NEW_SESSION:
                if getattr(schedule, name):
                    reason = f"{name} applies only to sessions that the schedule opens. Leave it or session_id out."
                    raise InvalidError(reason, field=f"body.{name}")
            await self.sessions.get(schedule.session_id, schedule.user_id)
            return
        rules = await self.rules_of(schedule.user_id)
        rules.check_model(schedule.model)
        rules.check_preset(schedule.preset)
        rules.check(schedule.model, schedule.options, schedule.options, preset=schedule.preset)

    def _first(self, schedule: Schedule) -> datetime | None:
        now = datetime.fromtimestamp(self.clock(), UTC)
        if schedule.at is not None and schedule.at <= now:
            raise InvalidError(f"This time, {_minute(schedule.at)}, has passed. Give a later one.", field="body.at")
        if schedule.at is not None and schedule.at > now + MAX_AHEAD:
            years = MAX_AHEAD // timedelta(days=366)
            raise InvalidError(f"This time is more than {years} years ahead. Give a sooner one.", field="body.at")
        return first_at(schedule, self.lines, now)


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
