"""The shell tools' rows of the registry."""

from __future__ import annotations

from contracts.sandboxes import Scope
from tool_api.tools.shell.controller import ShellController
from tool_api.tools.shell.types import MAX_TIMEOUT_S, ShellExec, ShellKill, ShellView, ShellWait, ShellWrite
from tool_api.tools.tool import AnyTool, Tool

_LONG_MS = (MAX_TIMEOUT_S + 15) * 1000
_SHORT_MS = 15_000


def shell_tools(controller: ShellController) -> tuple[AnyTool, ...]:
    """Run, view, wait, write and kill over one set of shells."""
    return (
        Tool(
            name="shell_exec",
            description="Run a Bash command in a persistent shell: working folder and variables stay for the next "
            "one. When timeout_s is over it is ended with all it started, unless keep_running is true.",
            arguments=ShellExec,
            phrase="Running {command}",
            scope=Scope.EXEC,
            deadline_ms=_LONG_MS,
            handler=controller.execute,
            dangerous=True,
        ),
        Tool(
            name="shell_view",
            description="Show the output so far of the latest command of a shell, and whether it still runs.",
            arguments=ShellView,
            phrase="Looking at the shell {shell}",
            scope=Scope.EXEC,
            deadline_ms=_SHORT_MS,
            handler=controller.view,
            read_only=True,
            waits=True,
        ),
        Tool(
            name="shell_wait",
            description="Wait until the running command of a shell ends, at most timeout_s seconds.",
            arguments=ShellWait,
            phrase="Waiting for the shell {shell}",
            scope=Scope.EXEC,
            deadline_ms=_LONG_MS,
            handler=controller.wait,
            read_only=True,
            waits=True,
        ),
        Tool(
            name="shell_write",
            description="Type text into the running command of a shell, as on a keyboard.",
            arguments=ShellWrite,
            phrase="Typing into the shell {shell}",
            scope=Scope.EXEC,
            deadline_ms=_SHORT_MS,
            handler=controller.write,
            dangerous=True,
        ),
        Tool(
            name="shell_kill",
            description="End the running command of a shell with all it started.",
            arguments=ShellKill,
            phrase="Ending the command of the shell {shell}",
            scope=Scope.EXEC,
            deadline_ms=_SHORT_MS,
            handler=controller.kill,
        ),
    )
