"""Look at a command in the background of a sandbox, and settle it once it has ended."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from backend_api.agent.background import state_of
from backend_api.agent.changed_files import changed_by
from backend_api.agent.events import (
    MAX_PREVIEW_CHARACTERS,
    BackgroundEnd,
    BackgroundFinished,
    BodyReference,
    RunQueued,
)
from backend_api.agent.new_events import Body, NewEvent
from backend_api.agent.shortening import shorten
from backend_api.agent.thread import MAX_RESULT_CHARACTERS
from backend_api.agent.tool import Done, ToolCall
from backend_api.background.domain import BackgroundCommand, BackgroundCommands
from backend_api.conversations.ports import SessionStream
from backend_api.kit.errors import DomainError
from backend_api.kit.notifier import Notifier, Topic
from backend_api.sandboxes.ports import Sandboxes, SandboxTools

GONE = frozenset({"none", "failed", "gone"})
LOST = Done(
    success=False,
    output="[The computer it ran on is gone, and its output with it.]",
    display={"background": "unknown"},
)
ANSWERS_WITHIN_S = 4.0
"""The time a sandbox has to answer, beyond the wait that is requested."""
OVERDUE_S = 24 * 3600.0
"""The time after its time-out when a command counts as lost if its sandbox does not report its end, or can't be
reached: its manager may be away for hours. A sandbox that is known to be gone needs no such time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollCommand:
    """Polls the sandbox in which the command was started, and no other. Raises `UnavailableError` or `TimeoutError` if
    it can't be reached."""

    commands: BackgroundCommands
    sandboxes: Sandboxes
    tools: SandboxTools
    stream: SessionStream
    notifier: Notifier
    clock: Callable[[], datetime]

    async def __call__(self, command: BackgroundCommand, *, wait_s: float = 0.0) -> Done | None:
        """The output so far, after at most `wait_s` seconds. A command that should stop is ended first. None while its
        sandbox is paused: nothing runs there, and a request would wake it."""
        try:
            async with asyncio.timeout(wait_s + ANSWERS_WITHIN_S):
                outcome = await self._ask(command, wait_s)
        except (DomainError, TimeoutError):
            if not self._is_overdue(command):
                raise
            outcome = LOST
        if outcome is None:
            return None
        state = state_of(outcome)
        if state is None and self._is_overdue(command):
            state = "lost"
        if state is not None:
            await self.settle(command, outcome, state)
        return outcome

    async def _ask(self, command: BackgroundCommand, wait_s: float) -> Done | None:
        status = await self.sandboxes.status(command.session_id)
        if status.status == "paused" and not command.stop_wanted:
            return None
        if status.status in GONE:
            return LOST
        sandbox = await self.sandboxes.ensure(command.session_id, command.user_id, queue_s=0)
        if sandbox.generation != command.generation:
            return LOST
        return await self.tools.call(sandbox, _check_call(command, wait_s))

    def _is_overdue(self, command: BackgroundCommand) -> bool:
        return (self.clock() - command.began_at).total_seconds() > command.timeout_s + OVERDUE_S

    async def settle(
        self, command: BackgroundCommand, outcome: Done, state: BackgroundEnd, *, read_by: str | None = None
    ) -> bool:
        """Record the end, once. It wakes the model, unless the person stopped the command or a call has returned its
        end. False if its end was recorded before."""
        told = finished_of(command, outcome, state, self.clock(), read_by)
        events = await self.commands.settle(
            command,
            told,
            wakes=state != "stopped" and read_by is None,
            # If a call read the end, its result reports the changed files.
            changed=changed_by(outcome) if read_by is None else None,
        )
        if not events:
            return False
        last = events[-1]
        if isinstance(last.payload, RunQueued):
            await self.notifier.notify(Topic.RUN_QUEUED, last.run_id)
        await self.stream.append(command.session_id, events)
        return True


def _check_call(command: BackgroundCommand, wait_s: float) -> ToolCall:
    return ToolCall(
        session_id=command.session_id,
        user_id=command.user_id,
        run_id="",
        call_id=f"look_{uuid.uuid4().hex}",
        name="background_stop" if command.stop_wanted else "check_background",
        arguments={"background_id": command.id, **({} if command.stop_wanted else {"wait_s": int(wait_s)})},
    )


def finished_of(
    command: BackgroundCommand, outcome: Done, state: BackgroundEnd, now: datetime, read_by: str | None
) -> NewEvent:
    """The event of the end. Long output is stored beside it."""
    output, body = outcome.output, None
    if outcome.body is not None or len(output) > MAX_PREVIEW_CHARACTERS:
        body = Body(content=outcome.body or output.encode("utf-8", "replace"), media_type="text/plain")
    exit_code = (outcome.display or {}).get("exit_code")
    finished = BackgroundFinished(
        background_id=command.id,
        command=command.command,
        exit_code=exit_code if state == "ended" else None,
        preview=shorten(output, MAX_PREVIEW_CHARACTERS),
        state=state,
        duration_ms=max(0, round((now - command.began_at).total_seconds() * 1000)),
        body=_reference(body) if body is not None else None,
        read_by=read_by,
    )
    read = shorten(output, MAX_RESULT_CHARACTERS) if body is not None else None
    return NewEvent(payload=finished, body=body, output=read)


def _reference(body: Body) -> BodyReference:
    digest = hashlib.blake2b(body.content, digest_size=16).hexdigest()
    return BodyReference(size=len(body.content), media_type=body.media_type, digest=digest)
