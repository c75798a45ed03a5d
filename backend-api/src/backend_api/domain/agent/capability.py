"""What the agent does beside asking, calling, recording and deciding to stop: each a value in a file of its own.

A capability keeps nothing: what it must remember is in the log, so that another worker goes on the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from backend_api.domain.agent.answer import Answer
from backend_api.domain.agent.ending import Ending
from backend_api.domain.agent.events import CompactionKind, ContextNote, ContextOpened, Notice
from backend_api.domain.agent.options import NO_OPTIONS, AgentMode, Options
from backend_api.domain.agent.subagents import AgentKind, Delegate, may_have
from backend_api.domain.agent.thread import Conversation
from backend_api.domain.agent.tools import Tool, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What an agent works with. `options` are those of all layers together; `tools` are empty while they are asked
    for; `context_window` is that of its model, in tokens; `delegate` is how the main one gives work to another."""

    now: Callable[[], datetime]
    tools: Sequence[ToolSpec] = ()
    options: Options = NO_OPTIONS
    kind: AgentKind = "main"
    delegate: Delegate | None = None
    mode: AgentMode = "normal"
    context_window: int = 200_000


class ToolSource(Protocol):
    """Where tools come from: asked for each agent, at its opening."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The tools of an agent with this setup."""
        ...


@dataclass(frozen=True, slots=True)
class GoOn:
    """The answer is not whole: ask again, after this note."""

    note: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The answer is not whole and stays so, which is said."""

    notice: Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A call that the model asks for, before anything is done about it."""

    tool: ToolSpec
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Allow:
    """The call runs."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The call runs once a person approves it. Undecided after `expires_s` seconds it is denied."""

    expires_s: float


@dataclass(frozen=True, slots=True)
class Deny:
    """The call is not run, and the model reads why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Later:
    """The next turn may begin once an answer that another agent of the run is at is over, and is judged anew then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclude:
    """The next answer is the last one: asked for without tools after this note, and then the run ends so."""

    note: ContextNote
    ending: Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """Before the next turn the conversation, of about `size` tokens, is to be replaced by a summary of it, which tells
    most of `focus`."""

    kind: CompactionKind
    size: int = 0
    focus: str | None = None


LATER = Later()
Bound = Ending | Compact | Conclude | Later
"""What may stand before a turn."""
Verdict = Allow | Ask | Deny
ALLOW = Allow()


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What of the history the model is sent. `apply` is pure, and makes the same of a turn until the next opening;
    `is_due` says that an opening is to leave something out; `limit` writes what it leaves out into one. All read the
    log alone, and never how much time has passed or what another process knows."""

    apply: Callable[[Conversation], Conversation]
    is_due: Callable[[Conversation], bool] = lambda _: False
    limit: Callable[[Conversation, ContextOpened], ContextOpened] = lambda _, opened: opened


async def _no_tools(_: Setup) -> Sequence[Tool]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """`sections` of the system prompt and `tools`, both frozen at an opening; whether it `offers` a tool to the model;
    `notes` told before an answer; `projections` of the history; a `gate` that judges each call; a `brake` that may end
    the run before a turn, make that the last one, or put it off; a `closing` that may go on with an answer. The order
    of capabilities is that of what they say, and of two tools of one name the first one's counts."""

    name: str
    tools: Callable[[Setup], Awaitable[Sequence[Tool]]] = _no_tools
    offers: Callable[[Setup, ToolSpec], bool] = lambda _setup, _tool: True
    gate: Callable[[Setup, ProposedCall], Verdict] = lambda _setup, _call: ALLOW
    sections: Callable[[Setup], Sequence[str]] = lambda _: ()
    notes: Callable[[Setup, Conversation], Sequence[ContextNote]] = lambda _setup, _conversation: ()
    projections: Sequence[Projection] = ()
    brake: Callable[[Setup, Conversation], Bound | None] = lambda _setup, _conversation: None
    closing: Callable[[Conversation, Answer], GoOn | GiveUp | None] = lambda _conversation, _answer: None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """All of an agent's, in their order, for one setup."""

    all: Sequence[Capability]
    setup: Setup

    def system_prompt(self) -> str:
        """The same whenever it is asked for."""
        return "\n\n".join(text for one in self.all for text in one.sections(self.setup))

    def judge(self, call: ProposedCall) -> Verdict:
        """The strictest verdict of all gates, of several alike the first one's."""
        verdicts = [one.gate(self.setup, call) for one in self.all]
        return next((verdict for kind in (Deny, Ask) for verdict in verdicts if isinstance(verdict, kind)), ALLOW)

    def changed_mode(self, conversation: Conversation) -> AgentMode | None:
        """The mode that the agent is in by now, where that is not the setup's."""
        mode = conversation.mode or self.setup.options.mode
        return mode if mode != self.setup.mode else None

    def notes(self, conversation: Conversation) -> list[ContextNote]:
        """What the model is to know now, whether it was told or not."""
        return [note for one in self.all for note in one.notes(self.setup, conversation)]

    def is_opening_due(self, conversation: Conversation) -> bool:
        """Whether less of the history is to be sent from now on."""
        return any(projection.is_due(conversation) for one in self.all for projection in one.projections)

    def limited(self, conversation: Conversation, opened: ContextOpened) -> ContextOpened:
        """The opening with what it leaves out of the history before it."""
        for one in self.all:
            for projection in one.projections:
                opened = projection.limit(conversation, opened)
        return opened

    def project(self, conversation: Conversation) -> Conversation:
        """What the model is sent of it."""
        for one in self.all:
            for projection in one.projections:
                conversation = projection.apply(conversation)
        return conversation

    def brake(self, conversation: Conversation) -> Bound | None:
        """What stands before the next turn: its end, one that is the last, or what comes first."""
        return next((ending for one in self.all if (ending := one.brake(self.setup, conversation))), None)

    def closing(self, conversation: Conversation, answer: Answer) -> GoOn | GiveUp | None:
        """What follows a model call that asked for no tool; None where the answer is whole."""
        return next((what for one in self.all if (what := one.closing(conversation, answer))), None)


def offered(capabilities: Sequence[Capability], setup: Setup, tools: Sequence[Tool]) -> list[ToolSpec]:
    """What the model is told of these tools: those that every capability offers."""
    return [tool.spec for tool in tools if all(one.offers(setup, tool.spec) for one in capabilities)]


async def tools_of(capabilities: Sequence[Capability], setup: Setup) -> list[Tool]:
    """The tools of an agent with this setup."""
    found: dict[str, Tool] = {}
    for one in capabilities:
        for tool in await one.tools(setup):
            if may_have(setup.kind, tool.spec):
                found.setdefault(tool.spec.name, tool)
    return list(found.values())
