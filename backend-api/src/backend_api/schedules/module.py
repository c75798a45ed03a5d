"""Messages that are sent by themselves, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits, Quotas
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.module import Module, Parts
from backend_api.schedules.application.change_schedules import CreateSchedule, UpdateSchedule
from backend_api.schedules.application.fire_schedules import FireSchedules, RunSchedule, SendScheduled
from backend_api.schedules.application.schedule_rules import ScheduleRules
from backend_api.schedules.cron_lines import CronsimLines
from backend_api.schedules.http import router
from backend_api.schedules.mongo.documents import DOCUMENTS
from backend_api.schedules.mongo.schedules import MongoSchedules


@asynccontextmanager
async def open_schedules(
    *,
    database: Database,
    sessions: SessionRepository,
    stream: SessionStream,
    notifier: Notifier,
    limiter: RateLimiter,
    limits: Limits,
    quotas: Quotas,
    rules_of: Callable[[UserId], Awaitable[OptionRules]],
    clock: Callable[[], float],
) -> AsyncGenerator[Parts]:
    """Open the schedules. Ports: `schedules` and the use cases that change and run one; its task sends due messages."""
    schedules = MongoSchedules(database, max_waiting=limits.waiting_messages, sessions_most=limits.sessions_in_all)
    lines = CronsimLines()
    rules = ScheduleRules(lines=lines, sessions=sessions, rules_of=rules_of, clock=clock)
    send = SendScheduled(schedules=schedules, stream=stream, notifier=notifier)
    create = CreateSchedule(
        schedules=schedules,
        rules=rules,
        notifier=notifier,
        limiter=limiter,
        limits=limits,
        most=quotas.schedules,
    )
    update = UpdateSchedule(schedules=schedules, rules=rules, notifier=notifier, limiter=limiter, limits=limits)
    fire = FireSchedules(schedules=schedules, lines=lines, send=send, notifier=notifier)
    yield Parts(
        ports={
            "schedules": schedules,
            "create_schedule": create,
            "update_schedule": update,
            "run_schedule": RunSchedule(schedules=schedules, send=send, limiter=limiter, limits=limits),
            "fire_schedules": fire,
        },
        tasks={"schedules": fire.fire_until_cancelled},
    )


SCHEDULES = Module(
    name="schedules",
    description="Messages that are sent by themselves, once or again and again.",
    documents=DOCUMENTS,
    routes=[router],
    open=open_schedules,
)
