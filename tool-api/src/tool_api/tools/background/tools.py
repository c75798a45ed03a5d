"""The background tools' rows of the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.background.controller import BackgroundController
from tool_api.tools.background.types import MAX_WAIT_S, BackgroundRun, BackgroundStop, CheckBackground
from tool_api.tools.tool import AnyTool, Tool

_SHORT_MS = 15_000


def background_tools(controller: BackgroundController) -> tuple[AnyTool, ...]:
    """Start, look at and end commands beside the shells."""
    return (
        Tool(
            name="background_run",
            description="Start a Bash command in the background and return its background_id at once, for what takes "
            "long while there is other work: builds, tests, downloads. It runs in a shell of its own, in the "
            "workspace. When it has ended, or timeout_s is over, it ends with all it started, and its result is told "
            "to you by itself; check_background looks at it before. For a program that is to go on (a server), use a "
            "named shell with keep_running.",
            arguments=BackgroundRun,
            phrase="Starting {command} in the background",
            scope=Scope.EXEC,
            deadline_ms=_SHORT_MS,
            handler=controller.start_command,
            dangerous=True,
        ),
        Tool(
            name="check_background",
            description="Show what a background command wrote so far, and whether it still runs or how it ended.",
            arguments=CheckBackground,
            phrase="Looking at the background command {background_id}",
            scope=Scope.EXEC,
            deadline_ms=(MAX_WAIT_S + 15) * 1000,
            handler=controller.check,
            read_only=True,
            waits=True,
        ),
        Tool(
            name="background_stop",
            description="End a background command with all it started.",
            arguments=BackgroundStop,
            phrase="Ending the background command {background_id}",
            scope=Scope.EXEC,
            deadline_ms=_SHORT_MS,
            handler=controller.stop,
        ),
    )
