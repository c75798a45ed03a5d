"""Messages that are sent by themselves, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits
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


class ScheduleSettings(BaseSettings):
    """Settings of the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    max_schedules_per_user: int = Field(default=100, ge=0)


@asynccontextmanager
async def open_schedules(
    *,
    settings: ScheduleSettings,
    database: Database,
    sessions: SessionRepository,
    stream: SessionStream,
    notifier: Notifier,
    limiter: RateLimiter,
    limits: Limits,
    rules_of: Callable[[UserId], Awaitable[OptionRules]],
    clock: Callable[[], float],
) -> AsyncGenerator[Parts]:
    """Open the schedules. Ports: `schedules` and the use cases that change and run one; its task sends due messages."""
    schedules = MongoSchedules(database, unseen_most=limits.waiting_messages, sessions_most=limits.sessions_in_all)
    lines = CronsimLines()
    rules = ScheduleRules(lines=lines, sessions=sessions, rules_of=rules_of, clock=clock)
    send = SendScheduled(schedules=schedules, stream=stream, notifier=notifier)
    create = CreateSchedule(
        schedules=schedules,
        rules=rules,
        notifier=notifier,
        limiter=limiter,
        limits=limits,
        most=settings.max_schedules_per_user,
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
    settings=ScheduleSettings,
    documents=DOCUMENTS,
    routes=[router],
    open=open_schedules,
)
