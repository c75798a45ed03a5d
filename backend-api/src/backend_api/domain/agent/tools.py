"""Tools as the agent loop sees them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What the loop, the model and the UI know of a tool. `phrase` is a template such as `Running {command}`."""

    name: str
    description: str
    parameters: dict[str, Any]
    phrase: str
    read_only: bool
    dangerous: bool = False
    deadline_ms: int = 60_000
    offer: str = field(init=False, compare=False, repr=False)
    """What a model is told of it, as JSON."""

    def __post_init__(self) -> None:
        offer = {"name": self.name, "description": self.description, "parameters": self.parameters}
        object.__setattr__(self, "offer", json.dumps(offer, ensure_ascii=False, separators=(",", ":")))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What the model reads (`output`) and what the UI shows; `body` is the whole kept beside (bytes, media type)."""

    success: bool
    output: str
    display: dict[str, Any] | None = None
    body: bytes | None = None
    body_media_type: str = "text/plain"
    changed_paths: list[str] = field(default_factory=list[str])
    duration_ms: int = 0


def _always_begun(_: bool) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """Who calls: session, user, run and call.

    A call counts as begun unless its box marks that it is not: while it waits for the place it runs in nothing can
    have happened, and nobody is told that it may have.
    """

    session_id: str
    user_id: str
    run_id: str
    call_id: str
    mark_begun: Callable[[bool], None] = _always_begun


OnOutput = Callable[[str], Awaitable[None]]


class ToolBox(Protocol):
    """A set of tools. Boxes are combined by `CompositeToolBox`."""

    def tools(self) -> Sequence[Tool]:
        """The tools on offer."""
        ...

    async def call(
        self, context: CallContext, name: str, arguments: dict[str, Any], on_output: OnOutput
    ) -> ToolOutcome:
        """Run one tool; live output goes to `on_output`.

        A tool's own failure is an outcome with `success` false. Cancelling the task ends what it started, wherever
        that runs. Raises `UnavailableError` where the place it runs in can't be had.
        """
        ...
