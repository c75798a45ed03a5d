"""Control of computers by people, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.tools.local import MainAgentTools
from backend_api.control.application import ControlSandbox
from backend_api.control.http import router
from backend_api.control.mongo import ControlLeaseDocument, MongoControlLeases
from backend_api.control.tools import ask_to_drive
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.module import Module, Parts


class ControlSettings(BaseSettings):
    """The module has no settings."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)


@asynccontextmanager
async def open_control(
    *, database: Database, sessions: SessionRepository, stream: SessionStream, notifier: Notifier
) -> AsyncGenerator[Parts]:
    """Open the module. The port `controls` is a `ControlSandbox`; the task ends leases that expired."""
    control = ControlSandbox(sessions=sessions, leases=MongoControlLeases(database), stream=stream, notifier=notifier)
    yield Parts(
        ports={"controls": control},
        tools=[MainAgentTools([ask_to_drive()])],
        tasks={"control": control.expire_until_cancelled},
    )


CONTROL = Module(
    name="control",
    description="Who controls the computer.",
    settings=ControlSettings,
    documents=[ControlLeaseDocument],
    routes=[router],
    tools=[ask_to_drive()],
    open=open_control,
)
