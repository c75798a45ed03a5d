"""A tool of the registry: a specification, typed arguments and an asynchronous handler."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from contracts.sandboxes import Scope
from contracts.tools import Display, ToolResult, ToolSpec

WriteOutput = Callable[[str], Awaitable[None]]


class Arguments(BaseModel):
    """Base of every tool's arguments: an unknown field is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """One running call, as its handler sees it.

    `deadline` is on the `time.monotonic()` clock. Cancellation arrives as `asyncio.CancelledError`; a handler that
    started processes ends them before it lets the error pass.
    """

    call_id: str
    deadline: float
    write_output: WriteOutput

    @property
    def remaining_s(self) -> float:
        """Seconds until the deadline, never below zero."""
        return max(0.0, self.deadline - time.monotonic())

    async def output(self, text: str) -> None:
        """Send a piece of live output to the call's watchers."""
        await self.write_output(text)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[ArgumentsT]):
    """A tool the model may call.

    The handler returns a `ToolResult`, also for a failure the model should see (see `failed`); an exception it
    raises is an infrastructure fault and never shown as output.
    """

    name: str
    description: str
    arguments: type[ArgumentsT]
    phrase: str
    scope: Scope
    deadline_ms: int
    handler: Callable[[CallContext, ArgumentsT], Awaitable[ToolResult]]
    read_only: bool = False
    dangerous: bool = False
    waits: bool = False

    def spec(self) -> ToolSpec:
        """The tool as the model, the page and the runner know it."""
        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters=self.arguments.model_json_schema(),
            phrase=self.phrase,
            scope=self.scope.value,
            read_only=self.read_only,
            waits=self.waits,
            dangerous=self.dangerous,
            deadline_ms=self.deadline_ms,
        )


AnyTool = Tool[Any]


def done(output: str, *, display: Display | None = None, changed_paths: list[str] | None = None) -> ToolResult:
    """The result of a tool that did its task."""
    return ToolResult(success=True, output=output, display=display, changed_paths=changed_paths or [])


def failed(output: str, *, display: Display | None = None, changed_paths: list[str] | None = None) -> ToolResult:
    """The result of a tool that failed; `output` says why, and what may work."""
    return ToolResult(success=False, output=output, display=display, changed_paths=changed_paths or [])
