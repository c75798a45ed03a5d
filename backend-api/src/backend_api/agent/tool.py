"""Tools as values: the definition of a tool, the call it gets, and its result."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from backend_api.agent.approvals import Approval
from backend_api.agent.events import BodyPart, StoredPayload, Todo, ToolCalled
from backend_api.agent.tasks import TaskBoard
from backend_api.agent.tool_family import FamilyKind
from backend_api.agent.waits import Wait

Effect = Literal["reads", "notes", "writes"]
"""Effects of a call. Calls that read run together, without approval, and again if a worker died during them. Calls that
note change nothing but the log's state of the agent itself: they are like those that read, but run in order, as each
builds on the one before, and approval rules don't apply to them. Their changes are stored with the result, so one that
was cut is repeated and counts once. Calls that write run in order, after an approval if the session wants one, and
once: one that was cut is reported as possibly done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """The definition of a tool for the loop, the model and the UI. `phrase` is a template such as `Running {command}`.

    A tool that needs no sandbox can run while that starts. Only one that `asks_person` may answer with questions, and
    only the agent that the person talks to has it. One that `waits` for something is called again with the same
    arguments until that has come. Of several calls of a `once` tool in one answer only the first is run. A tool of a
    module names its family; for others `tool_families.py` does.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    phrase: str
    effect: Effect = "writes"
    dangerous: bool = False
    needs_sandbox: bool = True
    asks_person: bool = False
    waits: bool = False
    once: bool = False
    deadline_ms: int = 60_000
    family_kind: FamilyKind | None = None
    offer: str = field(init=False, compare=False, repr=False)
    """The definition for a model, as JSON."""
    offer_bytes: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        offer = {"name": self.name, "description": self.description, "parameters": self.parameters}
        object.__setattr__(self, "offer", json.dumps(offer, ensure_ascii=False, separators=(",", ":")))
        object.__setattr__(self, "offer_bytes", len(self.offer.encode("utf-8", "replace")))

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing outside the agent: see `Effect`."""
        return self.effect != "writes"


async def _discard_output(_: str) -> None:
    return


async def no_mirror() -> None:
    """Write nothing."""


def _no_families(name: str, find: str) -> Done:
    del name, find
    return Done(success=False, output="There are no families of tools: you know all that you have.")


@dataclass(slots=True, kw_only=True)
class ToolCall:
    """One call at work. `todos` returns the agent's to-do list, `tasks` are the session's, `skills_read` returns the
    skills that its agents have read, `load_tools` returns definitions of a family's tools that have the words of its
    second argument, `mirror` writes tasks and team into the workspace if they have changed, and `delegate` gives work
    to another agent; it is None if there is none.

    A call counts as begun unless its tool marks that it is not: while it waits for its sandbox nothing can have
    happened, its result does not warn that it may have, and the time is no part of its duration.
    """

    session_id: str
    user_id: str
    run_id: str
    call_id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    agent_id: str | None = None
    """The sub-agent that calls, None for the main agent."""
    on_output: Callable[[str], Awaitable[None]] = _discard_output
    todos: Callable[[], Sequence[Todo]] = tuple
    tasks: TaskBoard = field(default_factory=TaskBoard)
    skills_read: Callable[[], Sequence[str]] = tuple
    load_tools: Callable[[str, str], Done] = _no_families
    mirror: Callable[[], Awaitable[None]] = no_mirror
    delegate: Delegate | None = None
    has_begun: bool = field(default=True, init=False)
    outcome: Done | Waits | None = field(default=None, init=False)
    """The result, once the call is over without a fault."""
    _since: float = field(default_factory=time.perf_counter, init=False)

    def mark_started(self, is_begun: bool) -> None:
        self.has_begun = is_begun
        self._since = time.perf_counter()

    def duration_ms(self) -> int:
        """The time that the tool itself has worked."""
        return round((time.perf_counter() - self._since) * 1000) if self.has_begun else 0


@dataclass(frozen=True, slots=True)
class FolderInstructions:
    """Instructions of the file at `path` for work in its folder and below."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A result. `output` is for the model, and `display` for the UI; `body` is the whole content stored beside it
    (bytes, media type, and parts if it is several things), and `events` are stored in the same transaction. The model
    reads `output`, or `read` in its place, and then the `instructions` of the folders the tool worked in, unless it
    knows them."""

    success: bool
    output: str
    read: str | None = None
    display: dict[str, Any] | None = None
    body: bytes | None = None
    body_media_type: str = "text/plain"
    body_parts: Sequence[BodyPart] = ()
    changed_paths: list[str] = field(default_factory=list[str])
    removed_paths: list[str] = field(default_factory=list[str])
    """Those of the changed paths that no longer exist."""

    events: Sequence[StoredPayload] = ()
    instructions: Sequence[FolderInstructions] = ()
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class Waits:
    """The call has no result yet: the run waits without a process, and the call continues once the waits are over."""

    waits: Sequence[Wait]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Work for another agent, of the kind of that name, which has `within_s` seconds for it."""

    kind: str
    task: str
    within_s: float


Delegate = Callable[[ToolCall, Assignment], Awaitable[Done | Waits]]
"""Gives an assignment to an agent of its own, whose last answer is the call's result. Called again for a call that was
cut, or that waited, it continues with the same agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call without a result. One that `needs_approval` was never started, and may be once it `is_approved`."""

    called: ToolCalled
    needs_approval: bool = False
    is_approved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool. `run_call` returns a tool's own failure as `Done` with `success` false. Cancelling its task ends what it
    started, wherever that runs. Raises `UnavailableError` if its sandbox can't be had."""

    spec: ToolSpec
    run_call: Callable[[ToolCall], Awaitable[Done | Waits]]

    def may_run_again(self, was_read_only: bool) -> bool:
        """Whether a call that was cut is run again; `was_read_only` is as recorded, maybe by an earlier version."""
        return self.spec.read_only and was_read_only

    def may_wait_for(self, waits: Sequence[Wait]) -> bool:
        """Whether its calls may return these waits in place of a result."""
        return self.spec.asks_person or all(isinstance(wait.subject, Approval) for wait in waits)
