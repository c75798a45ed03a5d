"""Running calls: each has a deadline, bounded live output, and can be cancelled from anywhere."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from contracts.sandboxes import Scope
from contracts.tools import (
    MAX_CHANGED_PATHS,
    MAX_OUTPUT_CHARACTERS,
    FolderInstructions,
    OutputFrame,
    ShellDisplay,
    ToolResult,
)
from service_kit.amounts import duration_text
from service_kit.terminal.screen import screen_text
from tool_api import measures
from tool_api.errors import ConflictError
from tool_api.tools.tool import AnyTool, Arguments, CallContext, failed

logger = logging.getLogger(__name__)

_CANCEL_WAIT_S = 5.0
_INSTRUCTIONS_S = 1.0
InstructionsOf = Callable[[ToolResult], list[FolderInstructions]]
"""Blocking; the instructions that hold for what a call worked on."""


class Changes(Protocol):
    """See `WorkspaceChanges`."""

    def begin(self) -> None: ...

    def take(self) -> list[str]: ...

    def gone(self, paths: Iterable[str]) -> list[str]: ...

    def leave_out(self, paths: Iterable[str]) -> None: ...


def no_instructions(_: ToolResult) -> list[FolderInstructions]:
    """No folder instructions."""
    return []


class LiveOutput:
    """Output on its way to the client: chunks that nobody fetched are joined, and text past the bound is dropped."""

    def __init__(self, limit: int = MAX_OUTPUT_CHARACTERS) -> None:
        self._room = limit
        self._pending: list[str] = []
        self._shown: list[str] = []
        self._offset = 0
        self.changed = asyncio.Event()

    async def write(self, text: str) -> None:
        text = text[: self._room]
        if text:
            self._room -= len(text)
            self._pending.append(text)
            self._shown.append(text)
            self.changed.set()

    def with_note(self, note: str) -> str:
        """The written text as a terminal shows it, followed by the reason why there is no more."""
        shown = screen_text("".join(self._shown)).rstrip()
        return f"{shown}\n[{note}]" if shown else f"[{note}]"

    def next_frame(self) -> OutputFrame | None:
        """All pending output as one frame."""
        self.changed.clear()
        if not self._pending:
            return None
        text = "".join(self._pending)
        self._pending.clear()
        frame = OutputFrame(offset=self._offset, text=text)
        self._offset += len(text)
        return frame


@dataclass(slots=True, kw_only=True)
class Call:
    """One running call: the task of its handler and its live output."""

    task: asyncio.Task[ToolResult]
    live: LiveOutput
    is_cancelled: bool = field(default=False)
    began: float = field(default_factory=time.monotonic)

    async def cancel(self) -> None:
        """End the call; everything it started is gone when this returns."""
        if not self.is_cancelled:
            # A second cancel would interrupt the handler while it ends its processes.
            self.is_cancelled = True
            self.task.cancel()
        await asyncio.wait([self.task], timeout=_CANCEL_WAIT_S)

    def result(self) -> ToolResult:
        """The result of an ended call; a cancelled one says so.

        Raises:
            Exception: whatever fault the handler raised.
        """
        if self.task.cancelled():
            return failed(self.live.with_note("The call was cancelled."))
        return self.task.result()


class Calls:
    """The running calls by id; an async context manager that cancels them at its end."""

    def __init__(self, instructions_of: InstructionsOf = no_instructions, changes: Changes | None = None) -> None:
        self._running: dict[str, Call] = {}
        self._instructions_of = instructions_of
        self._changes = changes

    async def __aenter__(self) -> Calls:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cancel_all()

    async def cancel_all(self) -> None:
        """End every call."""
        await asyncio.gather(*(call.cancel() for call in list(self._running.values())))

    def start_call(self, call_id: str, tool: AnyTool, arguments: Arguments) -> Call:
        """Start a call.

        Raises:
            ConflictError: a call of that id is running.
        """
        if call_id in self._running:
            raise ConflictError(f"A call {call_id} is running already.")
        limit_s = tool.deadline_ms / 1000
        live = LiveOutput()
        context = CallContext(call_id=call_id, deadline=time.monotonic() + limit_s, write_output=live.write)
        task = asyncio.get_running_loop().create_task(
            self._run(tool, context, arguments, limit_s, live), name=f"call {call_id}"
        )
        call = self._running[call_id] = Call(task=task, live=live)

        def forget(_: asyncio.Task[ToolResult]) -> None:
            self._running.pop(call_id, None)
            live.changed.set()

        task.add_done_callback(forget)
        return call

    async def cancel(self, call_id: str) -> None:
        """End a call; one that is over, or never was, needs no end."""
        call = self._running.get(call_id)
        if call is not None:
            await call.cancel()

    async def _run(
        self, tool: AnyTool, context: CallContext, arguments: Arguments, limit_s: float, live: LiveOutput
    ) -> ToolResult:
        if self._changes is not None and not tool.read_only:
            await asyncio.to_thread(self._changes.begin)
        result = await self._with_changes(tool, await _run(tool, context, arguments, limit_s, live))
        try:
            async with asyncio.timeout(_INSTRUCTIONS_S):
                instructions = await asyncio.to_thread(self._instructions_of, result)
        except Exception:
            # The call succeeded; faults of a folder don't change that.
            logger.exception("the instructions of a call's folders could not be read", extra={"tool": tool.name})
            return result
        return result.model_copy(update={"instructions": instructions}) if instructions else result

    async def _with_changes(self, tool: AnyTool, result: ToolResult) -> ToolResult:
        """The result with the files that changed since the last call that may write, and with those a command in the
        background wrote, once that has ended."""
        state = result.display.background if isinstance(result.display, ShellDisplay) else None
        has_ended = state in ("ended", "timed_out", "stopped")
        if self._changes is None or (tool.read_only and not has_ended):
            return result
        if tool.scope is Scope.FILES:
            await asyncio.to_thread(self._changes.leave_out, result.changed_paths)
            paths = result.changed_paths
        else:
            found = await asyncio.to_thread(self._changes.take)
            paths = list(dict.fromkeys([*result.changed_paths, *found]))[:MAX_CHANGED_PATHS]
        if not paths:
            return result
        gone = await asyncio.to_thread(self._changes.gone, paths)
        return result.model_copy(update={"changed_paths": paths, "removed_paths": gone})


async def _run(
    tool: AnyTool, context: CallContext, arguments: Arguments, limit_s: float, live: LiveOutput
) -> ToolResult:
    started = time.monotonic()
    limit = asyncio.timeout(limit_s)
    outcome = "fault"
    measures.CALLS_RUNNING.inc()
    try:
        async with limit:
            result = await tool.handler(context, arguments)
        outcome = "success" if result.success else "failure"
    except TimeoutError:
        if not limit.expired():
            raise
        outcome = "timed_out"
        result = failed(
            live.with_note(f"The call was ended because it did not finish within {duration_text(limit_s)}.")
        )
    except asyncio.CancelledError:
        outcome = "cancelled"
        raise
    finally:
        measures.CALLS_RUNNING.dec()
        measures.CALLS.labels(tool.name, outcome).inc()
        measures.CALL_SECONDS.labels(tool.name).observe(time.monotonic() - started)
    return result.model_copy(update={"duration_ms": round((time.monotonic() - started) * 1000)})
