"""Schedules in memory."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import datetime, timedelta

from backend_api.agent.events import MessageUser
from backend_api.conversations.domain.entity import RunId, Session, SessionStatus
from backend_api.conversations.domain.errors import SessionQuotaError, TooManyWaitingError
from backend_api.kit.ids import SessionId, UserId
from backend_api.schedules.domain.entity import Schedule, ScheduledRun, ScheduleId
from backend_api.schedules.domain.errors import ScheduleNotFoundError, ScheduleQuotaError
from backend_api.schedules.ports import LISTED_MOST, Fired, Firing, Upcoming
from support.memory.run_endings import RunEndings
from support.memory.store import MemoryStore, SessionRow


class MemorySchedules(RunEndings):
    """`Schedules` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore, *, max_waiting: int = 0, sessions_most: int = 0) -> None:
        super().__init__(store)
        self._max_waiting = max_waiting
        self._sessions_most = sessions_most
        self._kept: dict[ScheduleId, Schedule] = {}
        self._look_at: dict[ScheduleId, datetime] = {}

    async def add(self, schedule: Schedule, *, at_most: int) -> None:
        """At once."""
        if 0 < at_most <= sum(one.user_id == schedule.user_id for one in self._kept.values()):
            raise ScheduleQuotaError.of(at_most)
        self._save(schedule)

    async def get(self, schedule_id: ScheduleId, user_id: UserId) -> Schedule:
        """As it is."""
        schedule = self._find_own(schedule_id, user_id)
        if schedule is None:
            raise ScheduleNotFoundError("There is no such schedule.")
        return self._with_status(schedule)

    async def of_user(self, user_id: UserId) -> list[Schedule]:
        """As they are."""
        found = [self._find(one.id) or one for one in self._kept.values() if one.user_id == user_id]
        newest = sorted(sorted(found, key=lambda one: one.id), key=lambda one: one.created_at, reverse=True)
        return [self._with_status(one) for one in newest[:LISTED_MOST]]

    async def replace(self, schedule: Schedule) -> bool:
        """At once."""
        present = self._find_own(schedule.id, schedule.user_id)
        if present is None or present.version != schedule.version:
            return False
        self._save(replace(schedule, version=schedule.version + 1, last_run=present.last_run))
        return True

    async def delete(self, schedule_id: ScheduleId, user_id: UserId) -> None:
        """At once."""
        await self.get(schedule_id, user_id)
        del self._kept[schedule_id]
        self._look_at.pop(schedule_id, None)

    async def upcoming(self, *, limit: int) -> Upcoming | None:
        """By the store's clock."""
        for schedule_id in [*self._kept]:
            self._find(schedule_id)
        now, soonest = self._store.clock(), sorted(self._look_at.items(), key=lambda one: one[1])[:limit]
        if not soonest:
            return None
        due = [self._kept[schedule_id] for schedule_id, at in soonest if at <= now]
        return Upcoming(now=now, next_look=soonest[0][1], schedules=due)

    async def fire(self, schedule: Schedule, firing: Firing) -> Fired | None:
        """Under the lock."""
        async with self._store.lock:
            present = self._find_own(schedule.id, schedule.user_id)
            if firing.due_at is None and present is None:
                raise ScheduleNotFoundError("There is no such schedule.")
            if present is None or (firing.due_at is not None and present.version != schedule.version):
                return None
            row = self._row(schedule)
            fired = self._store_firing(row, schedule, firing)
            last = ScheduledRun(
                at=self._store.clock(),
                due_at=firing.due_at,
                session_id=fired.session_id,
                run_id=fired.run_id,
                missed=firing.missed,
            )
            if firing.due_at is not None:
                present = replace(present, version=present.version + 1, next_at=firing.next_at, missed=None)
            self._save(replace(present, last_run=last))
            return fired

    async def postpone(self, schedule: Schedule, *, for_s: float) -> None:
        """At once."""
        if schedule.id in self._look_at and self._kept[schedule.id].version == schedule.version:
            self._look_at[schedule.id] = self._store.clock() + timedelta(seconds=for_s)

    def _row(self, schedule: Schedule) -> SessionRow:
        if schedule.session_id is not None:
            row = self._store.own(schedule.session_id, schedule.user_id)
            unseen = sum(isinstance(event.payload, MessageUser) for event in row.events[row.model_read :])
            if 0 < self._max_waiting <= unseen:
                raise TooManyWaitingError.of(self._max_waiting)
            return row
        held = sum(row.session.user_id == schedule.user_id for row in self._store.sessions.values())
        if 0 < self._sessions_most <= held:
            raise SessionQuotaError.of(self._sessions_most)
        now = self._store.clock()
        session = Session(
            id=SessionId(uuid.uuid4().hex),
            user_id=schedule.user_id,
            title="",
            status=SessionStatus.IDLE,
            model=schedule.model,
            preset=schedule.preset,
            options=schedule.options,
            created_at=now,
            updated_at=now,
            active_at=now,
        )
        row = self._store.sessions[session.id] = SessionRow(session=session)
        return row

    def _store_firing(self, row: SessionRow, schedule: Schedule, firing: Firing) -> Fired:
        active, message = row.session.active_run_id, firing.message
        run_id = active or RunId(uuid.uuid4().hex)
        events = self._store.store(row, run_id, [firing.event_of(schedule), message])
        row.last_user_seq, row.last_user_message_id = len(row.events), message.message_id
        row.background_wakes, row.last_user_origin = 0, (None, None)
        if active is None:
            events += self._queue(row, run_id, message.message_id, "schedule")
        self._mark_updated(row)
        row.session = replace(row.session, active_at=row.session.updated_at)
        return Fired(session_id=row.session.id, run_id=run_id, begins_run=active is None, events=events)

    def _save(self, schedule: Schedule) -> None:
        self._kept[schedule.id] = schedule
        self._look_at.pop(schedule.id, None)
        if schedule.next_at is not None:
            self._look_at[schedule.id] = schedule.next_at

    def _find_own(self, schedule_id: ScheduleId, user_id: UserId) -> Schedule | None:
        schedule = self._find(schedule_id)
        return schedule if schedule is not None and schedule.user_id == user_id else None

    def _find(self, schedule_id: ScheduleId) -> Schedule | None:
        """Paused, where its session was deleted."""
        schedule = self._kept.get(schedule_id)
        if schedule is None or schedule.pause_reason is not None or schedule.session_id is None:
            return schedule
        if schedule.session_id not in self._store.sessions:
            version = schedule.version + 1
            schedule = replace(schedule, paused=True, pause_reason="session_deleted", next_at=None, version=version)
            self._save(schedule)
        return schedule

    def _with_status(self, schedule: Schedule) -> Schedule:
        last = schedule.last_run
        if last is None or (row := self._store.runs.get(last.run_id)) is None:
            return schedule
        return replace(schedule, last_run=replace(last, status=row.run.status.value))
