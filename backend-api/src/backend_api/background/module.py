"""The gateway's module for background commands of sandboxes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.background.application.look_at_command import PollCommand
from backend_api.background.application.read_commands import ReadCommands
from backend_api.background.application.stop_commands import StopCommands
from backend_api.background.application.watch_commands import WatchCommands
from backend_api.background.capability import BACKGROUND as CAPABILITY
from backend_api.background.http.background import router
from backend_api.background.mongo.background_commands import MongoBackgroundCommands
from backend_api.background.mongo.documents import DOCUMENTS
from backend_api.background.tools import BackgroundCalls, BackgroundToolSource, background_specs
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.module import Module, Parts
from backend_api.sandboxes.ports import Sandboxes, SandboxTools
from backend_api.sandboxes.tools import PlaceSkills, SandboxToolSource, manifest_tools, no_folders
from contracts.tools import BACKGROUND_TIMEOUT_S, MAX_BACKGROUND_TIMEOUT_S


class BackgroundSettings(BaseSettings):
    """Settings from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    background_timeout: int = Field(default=BACKGROUND_TIMEOUT_S, ge=1, le=MAX_BACKGROUND_TIMEOUT_S)


@asynccontextmanager
async def open_background(
    *,
    settings: BackgroundSettings,
    database: Database,
    sessions: SessionRepository,
    sandboxes: Sandboxes,
    sandbox_tools: SandboxTools,
    stream: SessionStream,
    notifier: Notifier,
    clock: Callable[[], float],
    place_skills: PlaceSkills = no_folders,
) -> AsyncGenerator[Parts]:
    """Open the module. The ports are `background_commands`, the use cases of the routes, and `request_end_of_commands`,
    which is called when a stopped run ends. The task follows commands until they have ended, whichever process started
    them."""
    commands = MongoBackgroundCommands(database)

    def now() -> datetime:
        return datetime.fromtimestamp(clock(), UTC)

    look = PollCommand(
        commands=commands, sandboxes=sandboxes, tools=sandbox_tools, stream=stream, notifier=notifier, clock=now
    )
    timeout_s = settings.background_timeout
    calls = BackgroundCalls(tools=sandbox_tools, commands=commands, look=look, clock=now, timeout_s=timeout_s)
    specs = background_specs(manifest_tools(), timeout_s)
    source = SandboxToolSource(specs, sandboxes, calls, place_skills=place_skills)
    yield Parts(
        ports={
            "background_commands": commands,
            "request_end_of_commands": commands.request_end,
            "read_commands": ReadCommands(sessions, commands, look),
            "stop_commands": StopCommands(sessions, commands, look),
        },
        tools=[BackgroundToolSource(source)],
        capabilities=[CAPABILITY],
        tasks={"background": WatchCommands(commands=commands, look=look).watch_until_cancelled},
    )


async def _by_nobody(call: ToolCall) -> Done:
    raise NotImplementedError


BACKGROUND = Module(
    name="background",
    description="Commands in the background of a conversation's computer.",
    settings=BackgroundSettings,
    documents=DOCUMENTS,
    routes=[router],
    tools=[Tool(spec=spec, run_call=_by_nobody) for spec in background_specs(manifest_tools(), BACKGROUND_TIMEOUT_S)],
    open=open_background,
)
