"""The tools for background commands: they run in the sandbox, and their records are kept here."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from backend_api.agent.background import MAX_COMMAND_CHARACTERS, state_of
from backend_api.agent.capability import Setup
from backend_api.agent.events import BackgroundStarted
from backend_api.agent.shortening import shorten
from backend_api.agent.tool import Done, Tool, ToolCall, ToolSpec
from backend_api.background.application.look_at_command import LOST, PollCommand
from backend_api.background.domain import (
    BackgroundCommand,
    BackgroundCommands,
    BackgroundNotFoundError,
    TooManyBackgroundError,
)
from backend_api.kit.errors import DomainError
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.ports import SandboxTools
from backend_api.sandboxes.tools import RECORDED, SandboxToolSource
from contracts.tools import BACKGROUND_TIMEOUT_S, MAX_BACKGROUND_TIMEOUT_S

logger = logging.getLogger(__name__)

RUN, CHECK, STOP = "background_run", "check_background", "background_stop"


def background_specs(specs: Sequence[ToolSpec], timeout_s: int) -> list[ToolSpec]:
    """The tools of the manifest as agents get them: without the id, and with the deployment's time-out."""
    return [_without_id(spec, timeout_s) if spec.name == RUN else spec for spec in specs if spec.name in RECORDED]


def _without_id(spec: ToolSpec, timeout_s: int) -> ToolSpec:
    parameters: dict[str, Any] = deepcopy(spec.parameters)
    parameters["properties"].pop("background_id")
    parameters["properties"]["timeout_s"]["default"] = timeout_s
    return replace(spec, parameters=parameters)


@dataclass(frozen=True, slots=True)
class BackgroundToolSource:
    """`ToolSource` for the main agent: a sub-agent would end before its command."""

    source: SandboxToolSource

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """No tools for sub-agents."""
        return await self.source.tools(setup) if setup.kind == "main" else []


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundCalls:
    """`SandboxTools` that record the commands they start. The record is stored before the command starts, so that one
    whose start was cut off is followed all the same."""

    tools: SandboxTools
    commands: BackgroundCommands
    look: PollCommand
    clock: Callable[[], datetime]
    timeout_s: int = BACKGROUND_TIMEOUT_S

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        """See `SandboxTools`."""
        if call.name == RUN:
            return await self._start(sandbox, call)
        try:
            wanted = str(call.arguments.get("background_id", ""))
            command = await self.commands.get(SessionId(call.session_id), wanted)
        except BackgroundNotFoundError:
            known = await self.commands.of_session(SessionId(call.session_id), ended=20)
            ids = ", ".join(one.id for one in known) or "none"
            return Done(success=False, output=f"There is no such background command. Known: {ids}.")
        return await self._check(sandbox, call, command)

    async def _start(self, sandbox: Sandbox, call: ToolCall) -> Done:
        command = BackgroundCommand(
            id=f"bg_{uuid.uuid4().hex[:12]}",
            session_id=SessionId(call.session_id),
            user_id=UserId(call.user_id),
            call_id=call.call_id,
            command=shorten(str(call.arguments.get("command", "")), MAX_COMMAND_CHARACTERS),
            generation=sandbox.generation,
            timeout_s=_seconds(call.arguments.get("timeout_s"), self.timeout_s),
            began_at=self.clock(),
        )
        try:
            return await self._start_command(sandbox, call, command)
        except TooManyBackgroundError as error:
            return Done(success=False, output=f"{error.detail} Wait for one ({CHECK}) or end one ({STOP}).")
        except asyncio.CancelledError:
            # The result is lost, so the command is ended, also if it had just begun.
            await asyncio.shield(self._schedule_stop(command))
            raise

    async def _start_command(self, sandbox: Sandbox, call: ToolCall, command: BackgroundCommand) -> Done:
        await self.commands.begin(command)
        given = {"timeout_s": self.timeout_s, **call.arguments, "background_id": command.id}
        try:
            outcome = await self.tools.call(sandbox, _with_arguments(call, given))
        except SandboxUnavailableError:
            # Nothing ran: the next attempt is another command.
            await self.commands.drop(command.id)
            raise
        if not outcome.success:
            await self.commands.drop(command.id)
            return outcome
        await self.commands.confirm(command.id)
        started = BackgroundStarted(
            background_id=command.id, call_id=call.call_id, command=command.command, timeout_s=command.timeout_s
        )
        said = {"background_id": command.id, "timeout_s": command.timeout_s}
        return replace(outcome, output=json.dumps(said), events=[started])

    async def _schedule_stop(self, command: BackgroundCommand) -> None:
        try:
            await self.commands.confirm(command.id)
            await self.commands.request_end(command.session_id, command.id)
        except DomainError as error:
            # The watcher polls it all the same, once its start must be over.
            fields = {"session_id": command.session_id, "background_id": command.id, "reason": error.detail}
            logger.warning("a background command whose start was cut off is not stopped yet", extra=fields)

    async def _check(self, sandbox: Sandbox, call: ToolCall, command: BackgroundCommand) -> Done:
        """Return the end of a command that has ended, unless it was recorded elsewhere before."""
        if command.state is not None:
            return _repeat_end(command)
        # The watcher may record the end first: then it is reported there, and not here as well.
        outcome = LOST
        if sandbox.generation == command.generation:
            outcome = await self.tools.call(sandbox, call)
        state = state_of(outcome)
        if state is not None and not await self.look.settle(command, outcome, state, read_by=call.call_id):
            return _reported_elsewhere(await self.commands.get(command.session_id, command.id))
        return outcome


def _repeat_end(command: BackgroundCommand) -> Done:
    """The end once more, for a model that asks again, such as after a summary."""
    how = "was already reported to you" if command.read_by is not None else "will also be reported to you automatically"
    return Done(success=True, output=f"{command.preview}\n[{_end_text(command)}; this {how}]")


def _reported_elsewhere(command: BackgroundCommand) -> Done:
    where = "automatically" if command.read_by is None else "by another call"
    return Done(success=True, output=f"[{_end_text(command)}; its output is reported to you {where}]")


def _end_text(command: BackgroundCommand) -> str:
    return f"{command.state}" if command.exit_code is None else f"{command.state}, exit code {command.exit_code}"


def _with_arguments(call: ToolCall, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(
        session_id=call.session_id,
        user_id=call.user_id,
        run_id=call.run_id,
        call_id=call.call_id,
        name=call.name,
        arguments=arguments,
        on_output=call.on_output,
    )


def _seconds(given: object, default: int) -> int:
    """The time-out that counts: a value that the sandbox refuses is ignored."""
    return given if isinstance(given, int) and 0 < given <= MAX_BACKGROUND_TIMEOUT_S else default
