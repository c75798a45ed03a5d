"""Tools as values: what is told of one, what it does when it is called, and what becomes of a call that was cut."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from backend_api.agent.approvals import Approval
from backend_api.agent.events import BodyPart, StoredPayload, Todo, ToolCalled
from backend_api.agent.tasks import TaskBoard
from backend_api.agent.waits import Wait

Effect = Literal["reads", "notes", "writes"]
"""Calls that read run together, without approval, and again where a worker that died left them open. Those that note
change nothing but what the log has of the agent itself: they are like those that read, but run in order, as each goes
on from the one before, and rules that ask say nothing of them. What they change is stored with the result, so one that
was cut is made again and counts once. Those that write run in order, after an approval where the session wants it, and
once: of one left open is reported that it may have happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """What the loop, the model and the UI know of a tool. `phrase` is a template such as `Running {command}`.

    One that needs no sandbox runs while that starts. Only one that `asks_person` may answer with questions, and only
    the agent that the person talks to has it. One that `waits` for something is called again with the same arguments
    until that has come. Of several calls in one answer of one that is called `once` the first is run.
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
    offer: str = field(init=False, compare=False, repr=False)
    """What a model is told of it, as JSON."""
    offer_bytes: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        offer = {"name": self.name, "description": self.description, "parameters": self.parameters}
        object.__setattr__(self, "offer", json.dumps(offer, ensure_ascii=False, separators=(",", ":")))
        object.__setattr__(self, "offer_bytes", len(self.offer.encode("utf-8", "replace")))

    @property
    def read_only(self) -> bool:
        """See `Effect`."""
        return self.effect != "writes"


async def _discard_output(_: str) -> None:
    return


async def no_mirror() -> None:
    """Nowhere."""


def _no_families(name: str, find: str) -> Done:
    del name, find
    return Done(success=False, output="There are no families of tools: you know all that you have.")


@dataclass(slots=True, kw_only=True)
class ToolCall:
    """One call at work: who calls, what is wanted, where live output goes, how far it came. `todos` tells the agent's
    own working list by now, `tasks` are the session's, `skills_read` tells which skills its agents have read,
    `load_tools` answers those of a family, of them what has the words of the second text, `mirror` writes tasks and
    team into the workspace where they have changed, and `delegate` is how its agent gives work to another one, None
    where there is none.

    A call counts as begun unless its tool marks that it is not: while it waits for the place it runs in nothing can
    have happened, nobody is told that it may have, and it is no part of its duration.
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
    """Where it did not fail, once it is over."""
    _since: float = field(default_factory=time.perf_counter, init=False)

    def mark_begun(self, is_begun: bool) -> None:
        self.has_begun = is_begun
        self._since = time.perf_counter()

    def duration_ms(self) -> int:
        """How long the tool itself has worked."""
        return round((time.perf_counter() - self._since) * 1000) if self.has_begun else 0


@dataclass(frozen=True, slots=True)
class FolderInstructions:
    """What the file at `path` says of work in its folder and below."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What the tool gave (`output`) and what the UI shows; `body` is the whole kept beside (bytes, media type, and the
    parts of one that is several things), and its `events` are stored in the transaction of the result. The model reads
    the output, or what is `read` of it, and afterwards the `instructions` of the folders it worked in that it does
    not know yet."""

    success: bool
    output: str
    read: str | None = None
    display: dict[str, Any] | None = None
    body: bytes | None = None
    body_media_type: str = "text/plain"
    body_parts: Sequence[BodyPart] = ()
    changed_paths: list[str] = field(default_factory=list[str])
    removed_paths: list[str] = field(default_factory=list[str])
    """Those of them at which nothing is any more."""

    events: Sequence[StoredPayload] = ()
    instructions: Sequence[FolderInstructions] = ()
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class Waits:
    """The call has no result yet: the run waits without a process, and goes on with it once that is over."""

    waits: Sequence[Wait]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Work for another agent, of the kind of that name, which it may take `within_s` seconds for."""

    kind: str
    task: str
    within_s: float


Delegate = Callable[[ToolCall, Assignment], Awaitable[Done | Waits]]
"""Gives an assignment to an agent of its own; what that says last is the call's result. Called again for a call that
was cut, or that waited, it goes on where that agent was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call without a result. One that `needs_approval` was never started, and may be once it `is_approved`."""

    called: ToolCalled
    needs_approval: bool = False
    is_approved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`run_call` answers a tool's own failure by `Done` with `success` false. Cancelling its task ends what it started,
    wherever that runs. Raises `UnavailableError` where the place it runs in can't be had."""

    spec: ToolSpec
    run_call: Callable[[ToolCall], Awaitable[Done | Waits]]

    def may_run_again(self, was_read_only: bool) -> bool:
        """Whether a call that was cut is run again; `was_read_only` as it was recorded, maybe by an earlier version."""
        return self.spec.read_only and was_read_only

    def may_wait_for(self, waits: Sequence[Wait]) -> bool:
        """Whether its calls may have these instead of a result."""
        return self.spec.asks_person or all(isinstance(wait.subject, Approval) for wait in waits)
