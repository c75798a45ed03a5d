"""Commands in the background: who looks at them, and the tools an agent has for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from backend_api.agent.tool import ToolSpec
from backend_api.background.application.look_at_command import LookAtCommand
from backend_api.background.mongo.background_commands import MongoBackgroundCommands
from backend_api.background.tools import NAMES, BackgroundCalls, BackgroundToolSource, background_specs
from backend_api.main.sandboxes import SandboxPorts
from backend_api.main.stores import Stores
from backend_api.sandboxes.tools import PlaceSkills, SandboxToolSource


def look_at_commands(stores: Stores, sandboxes: SandboxPorts, clock: Callable[[], float]) -> LookAtCommand:
    """At those of all sessions. `clock` tells Unix seconds."""
    return LookAtCommand(
        commands=MongoBackgroundCommands(stores.database),
        sandboxes=sandboxes.sandboxes,
        tools=sandboxes.tools,
        stream=stores.stream,
        notifier=stores.notifier,
        clock=lambda: datetime.fromtimestamp(clock(), UTC),
    )


def foreground_specs(specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Those of a sandbox's tools that are not for commands in the background."""
    return [spec for spec in specs if spec.name not in NAMES]


def background_tools(
    look: LookAtCommand, specs: Sequence[ToolSpec], timeout_s: int, place_skills: PlaceSkills
) -> BackgroundToolSource:
    """Those that are, each with a record of what it starts."""
    calls = BackgroundCalls(tools=look.tools, commands=look.commands, look=look, clock=look.clock, timeout_s=timeout_s)
    told = background_specs(specs, timeout_s)
    return BackgroundToolSource(SandboxToolSource(told, look.sandboxes, calls, place_skills=place_skills))
