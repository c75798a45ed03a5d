"""The background tools' work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from contracts.tools import MAX_BACKGROUND_RUNNING, ShellDisplay, ToolResult
from tool_api.tools.background.commands import (
    BackgroundCommand,
    BackgroundCommands,
    TooManyBackgroundCommandsError,
)
from tool_api.tools.background.types import BackgroundRun, BackgroundStop, CheckBackground
from tool_api.tools.shell.allowed import refused_command
from tool_api.tools.tool import CallContext, done, failed
from tool_api.write_bound import FULL, WriteBound, unbound

_LAST_WORD_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundController:
    """Starts, looks at and ends commands in the background."""

    commands: BackgroundCommands
    allowed: frozenset[str]
    notice: Callable[[], str | None] = lambda: None
    """A notice for when the workspace is full."""
    bound: Callable[[], Awaitable[WriteBound]] = unbound
    """The write limit of a command."""
    _ending: set[asyncio.Future[None]] = field(default_factory=set[asyncio.Future[None]])

    async def start_command(self, call: CallContext, arguments: BackgroundRun) -> ToolResult:
        del call
        if (refused := refused_command(arguments.command, self.allowed)) is not None:
            return failed(f"The command {refused!r} is not allowed in this sandbox.")
        if (bound := await self.bound()).is_full:
            return failed(self.notice() or FULL)
        limit = arguments.timeout_s
        # A start cancelled half-way would leave a bash that is not registered.
        starting = asyncio.ensure_future(
            self.commands.start_command(arguments.background_id, arguments.command, limit, file_bytes=bound.file_bytes)
        )
        try:
            one = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The caller does not learn that it began and may start it again, so it is ended.
            starting.add_done_callback(self._end_unstarted)
            raise
        except TooManyBackgroundCommandsError:
            return failed(
                f"{MAX_BACKGROUND_RUNNING} background commands are running, which is the maximum: "
                f"{', '.join(self.commands.ids())}. Wait for one (check_background) or end one (background_stop)."
            )
        except OSError as error:
            return failed(f"The command could not be started: {error.strerror or error}.")
        return done(f"background_id: {one.id}\n[running, at most {limit} s]", display=_display(one))

    def _end_unstarted(self, starting: asyncio.Future[BackgroundCommand]) -> None:
        if not starting.cancelled() and starting.exception() is None:
            ending = asyncio.ensure_future(starting.result().stop())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def check(self, call: CallContext, arguments: CheckBackground) -> ToolResult:
        one = self.commands.find(arguments.background_id)
        if one is None:
            return self._unknown_id(arguments.background_id)
        await one.wait(min(arguments.wait_s, max(0.0, call.remaining_s - _LAST_WORD_S)))
        return _result(one)

    async def stop(self, _: CallContext, arguments: BackgroundStop) -> ToolResult:
        one = self.commands.find(arguments.background_id)
        if one is None:
            return self._unknown_id(arguments.background_id)
        await asyncio.shield(one.stop())
        return _result(one)

    def _unknown_id(self, background_id: str) -> ToolResult:
        known = ", ".join(self.commands.ids()) or "none"
        display = ShellDisplay(command="", shell=background_id, background="unknown")
        return failed(f"There is no background command {background_id} here. Known: {known}.", display=display)


def _result(one: BackgroundCommand) -> ToolResult:
    """The output, and a line with the state: a failed command does not make the call that looked at it fail."""
    output = one.command.output.rstrip() or "[no output]"
    notes = "".join(f"\n[{note}]" for note in _describe(one, output))
    result = done(f"{output}{notes}", display=_display(one))
    return result.model_copy(update={"raw_output": one.command.raw_output})


def _describe(one: BackgroundCommand, output: str) -> list[str]:
    match one.state:
        case "running":
            return [f"still running, for {one.seconds:.0f} s"]
        case "timed_out":
            return [f"ended, with all it had started, as it ran longer than {one.seconds:.0f} s"]
        case "stopped":
            return ["stopped, with all it had started"]
        case _:
            return one.command.end_notes(output)


def _display(one: BackgroundCommand) -> ShellDisplay:
    exit_code = one.command.exit_code if one.state == "ended" else None
    return ShellDisplay(
        command=one.command.text, shell=one.id, exit_code=exit_code, cwd=one.command.folder, background=one.state
    )
