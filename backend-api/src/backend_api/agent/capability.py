"""Capabilities: whatever the agent does beside the loop of model, tools, log and stop, each a value in a file of its
own.

A capability keeps no state: what it must remember is in the log, so that another worker goes on the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from backend_api.agent.answer import Answer
from backend_api.agent.conversation import Conversation
from backend_api.agent.ending import Ending
from backend_api.agent.events import CompactionKind, ContextCompacted, ContextNote, ContextOpened, Notice
from backend_api.agent.model import CONTEXT_WINDOW
from backend_api.agent.options import JUDGED_BY, NO_OPTIONS, AgentMode, Options, merged, session_options
from backend_api.agent.preset import NO_PRESET, Preset
from backend_api.agent.session_choices import NO_CHOICES, SessionChoices
from backend_api.agent.sizes import CountTokens, count_estimated
from backend_api.agent.subagent_kinds import BUILT_IN, MAIN, SubagentKind
from backend_api.agent.team import Membership
from backend_api.agent.tool import Tool, ToolSpec
from backend_api.agent.tool_families import PAIR, Family, ToolSet
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The configuration of an agent. `options` are merged from all layers, `below` from those below the session's, and
    `preset` is one of these layers. `tools` are all that it may call (empty while they are being collected), and
    `tool_set` is the part that its prompt defines. `context_window` is its model's, in tokens, and `count_tokens`
    counts as that model does. `kind` is its own kind, and `kinds` are those that sub-agents may have. `loaded` holds,
    by capability name, what each capability loaded for the user as the run began; `mcp_tools` are the tools of its MCP
    servers; `membership` is its place in the run's team, if it is in one."""

    now: Callable[[], datetime]
    tools: Sequence[ToolSpec] = ()
    options: Options = NO_OPTIONS
    below: Options = NO_OPTIONS
    preset: Preset = NO_PRESET
    kind: str = MAIN
    kinds: Sequence[SubagentKind] = BUILT_IN
    mode: AgentMode = "normal"
    context_window: int = CONTEXT_WINDOW
    count_tokens: CountTokens = count_estimated
    tool_set: ToolSet | None = None
    loaded: Mapping[str, object] = field(default_factory=dict[str, object])
    mcp_tools: Sequence[Tool] = ()
    membership: Membership | None = None

    def judging(self, chosen: SessionChoices) -> Setup:
        """The setup by which calls are judged, after the session's latest choices."""
        mode = self.mode if chosen == NO_CHOICES else self.mode_by(chosen)
        setup = self if mode == self.mode else replace(self, mode=mode)
        if chosen.options is None:
            return setup
        now = self._options_by(chosen.options)
        return replace(setup, options=replace(self.options, **{name: getattr(now, name) for name in JUDGED_BY}))

    def mode_by(self, chosen: SessionChoices) -> AgentMode:
        """The agent's mode after the session's latest choices."""
        if chosen.mode is not None:
            return chosen.mode
        return (self.options if chosen.options is None else self._options_by(chosen.options)).mode

    def _options_by(self, chosen: Mapping[str, Any]) -> Options:
        return merged(self.below, session_options(None, chosen))

    @property
    def missing_preset(self) -> str | None:
        """The chosen preset if it no longer exists, else None."""
        chosen = self.options.preset
        return chosen if chosen != self.preset.id else None

    @property
    def subagent(self) -> SubagentKind | None:
        """The kind of a sub-agent; None for the main agent."""
        return None if self.kind == MAIN else {kind.name: kind for kind in self.kinds}[self.kind]

    @property
    def first_tools(self) -> frozenset[str]:
        """Names and globs of tools that are defined in the prompt from the start, beside the usual ones."""
        of_kind = self.subagent.first if self.subagent is not None else frozenset[str]()
        of_team = self.membership.first_tools if self.membership is not None else frozenset[str]()
        return self.preset.first | of_kind | of_team

    @property
    def prompt_tools(self) -> Sequence[ToolSpec]:
        """The tools defined in the prompt from the start."""
        return self.tools if self.tool_set is None else self.tool_set.first

    @property
    def families(self) -> Sequence[Family]:
        """The families of the other tools."""
        return () if self.tool_set is None else self.tool_set.families

    @property
    def has_sandbox(self) -> bool:
        """Whether one of its tools works on a sandbox."""
        # A list is one call, but a generator is one for each tool.
        return True in [tool.needs_sandbox for tool in self.tools]

    def has_tool(self, name: str) -> bool:
        """Whether it has a tool of this name."""
        return name in [tool.name for tool in self.tools]


class ToolSource(Protocol):
    """A source of tools, queried for each agent at its opening."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The tools of an agent with this setup."""
        ...


@dataclass(frozen=True, slots=True)
class Continue:
    """The answer is not whole: ask again, after this note."""

    note: str


@dataclass(frozen=True, slots=True)
class Abort:
    """The answer is not whole and stays so; the notice is shown."""

    notice: Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A call that the model requests, before anything is done about it. `is_held_back`: its provider wants a person to
    allow it."""

    tool: ToolSpec
    arguments: Mapping[str, Any]
    is_held_back: bool = False


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
class WaitForOthers:
    """The next turn waits until another agent of the run has finished its answer, and is then judged anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalTurn:
    """The next answer is the last one: it is requested without tools after this note, and the run ends with
    `ending`."""

    note: ContextNote
    ending: Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """The conversation, of about `size` tokens, is to be replaced by a summary before the next turn; the summary covers
    `focus` most. A size of 0 is unknown: the provider rejected the conversation as too long."""

    kind: CompactionKind
    size: int = 0
    focus: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimit:
    """The next answer may have this `many` calls; those beyond them are not run, and the model reads why."""

    many: int
    reason: str


DEFER = WaitForOthers()
Bound = Ending | Compact | FinalTurn | WaitForOthers
"""The outcomes of a brake: each is applied before a turn."""
Verdict = Allow | Ask | Deny
ALLOW = Allow()


class Judge(Protocol):
    """The verdict on a call, after the choices that the session made since the agent's setup."""

    def __call__(self, call: ProposedCall, chosen: SessionChoices = NO_CHOICES) -> Verdict: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """A view of the history for the model. `apply` is pure, and renders a turn the same way until the next opening;
    `is_due` returns whether a new opening should leave something out; `limit` writes into an opening what it leaves
    out, and `tell` makes the event recorded beside it. All read the log alone, never the clock or what another process
    knows."""

    apply: Callable[[Conversation], Conversation]
    is_due: Callable[[Conversation], bool] = lambda _: False
    limit: Callable[[Conversation, ContextOpened], ContextOpened] = lambda _, opened: opened
    tell: Callable[[Conversation, ContextOpened], ContextCompacted | None] = lambda _, _opened: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """A part of the agent's behaviour; hooks that it lacks are None. `load` reads something of the user, and
    `load_of_session` of the session, as a run begins; `defaults` makes of that the options that hold if the session
    chooses none. `sections` of the system prompt and `tools` are frozen at an opening; `offers` selects the tools that
    the model is offered. `notes` are added before an answer, `projections` change the view of the history, and
    `notes_after_compaction` follow a summary word for word. `gate` judges each call; `brake` may end the run before a
    turn, make that turn the last one, or put it off; `call_limit` bounds the calls of its answer; `closing` may
    continue an answer. Capabilities run in their order, and the first of two tools of one name counts; one of a module
    stands behind the capability that it names as `after`. With `for_subagents` the main agent lacks it."""

    name: str
    after: str | None = None
    load: Callable[[UserId], Awaitable[object]] | None = None
    load_of_session: Callable[[UserId, SessionId], Awaitable[object]] | None = None
    defaults: Callable[[object], Options] | None = None
    tools: Callable[[Setup], Awaitable[Sequence[Tool]]] | None = None
    offers: Callable[[Setup, Sequence[ToolSpec]], Sequence[ToolSpec]] | None = None
    gate: Callable[[Setup, ProposedCall], Verdict] | None = None
    sections: Callable[[Setup], Sequence[str]] | None = None
    notes: Callable[[Setup, Conversation], Sequence[ContextNote]] | None = None
    projections: Sequence[Projection] = ()
    brake: Callable[[Setup, Conversation], Awaitable[Bound | None]] | None = None
    call_limit: Callable[[Setup, Conversation], CallLimit | None] | None = None
    notes_after_compaction: Callable[[Setup, Conversation], Sequence[str]] | None = None
    closing: Callable[[Conversation, Answer], Continue | Abort | None] | None = None
    for_subagents: bool = False


def capabilities_of(table: Sequence[Capability], setup: Setup) -> Sequence[Capability]:
    """The capabilities of the table that an agent with this setup has."""
    return [one for one in table if not one.for_subagents or setup.kind != MAIN]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """All capabilities of an agent in their order, with its setup. Hooks that are None are skipped: most capabilities
    have few, and calling all took an eighth of the calls of a turn."""

    all: Sequence[Capability]
    setup: Setup

    def system_prompt(self) -> str:
        """The system prompt: always the same for the same setup."""
        own = [one.sections(self.setup) for one in self.all if one.sections is not None]
        return "\n\n".join([text for texts in own for text in texts])

    def judge(self, call: ProposedCall, chosen: SessionChoices = NO_CHOICES) -> Verdict:
        """The strictest verdict of all gates (the first of several alike), after the session's latest choices."""
        setup = self.setup.judging(chosen)
        verdicts = [one.gate(setup, call) for one in self.all if one.gate is not None]
        return next((verdict for kind in (Deny, Ask) for verdict in verdicts if isinstance(verdict, kind)), ALLOW)

    def changed_mode(self, conversation: Conversation) -> AgentMode | None:
        """The agent's mode by now, if it is not the setup's."""
        mode = self.setup.mode_by(conversation.chosen)
        return mode if mode != self.setup.mode else None

    def notes(self, conversation: Conversation) -> list[ContextNote]:
        """All notes that hold now, whether the model has read them or not."""
        return [note for one in self.all if one.notes is not None for note in one.notes(self.setup, conversation)]

    def is_opening_due(self, conversation: Conversation) -> bool:
        """Whether less of the history is to be sent from now on."""
        return any(projection.is_due(conversation) for one in self.all for projection in one.projections)

    def limited(self, conversation: Conversation, opened: ContextOpened) -> ContextOpened:
        """The opening with what it leaves out of the history before it."""
        for one in self.all:
            for projection in one.projections:
                opened = projection.limit(conversation, opened)
        return opened

    def compaction_events(self, conversation: Conversation, opened: ContextOpened) -> list[ContextCompacted]:
        """Events for what this opening leaves out of the history, beyond the last one."""
        tells = (projection.tell(conversation, opened) for one in self.all for projection in one.projections)
        return [told for told in tells if told is not None]

    def project(self, conversation: Conversation) -> Conversation:
        """The conversation as it is sent to the model."""
        for one in self.all:
            for projection in one.projections:
                conversation = projection.apply(conversation)
        return conversation

    async def brake(self, conversation: Conversation) -> Bound | None:
        """The first brake that applies to the next turn; None if it may begin."""
        for one in self.all:
            if one.brake is not None and (bound := await one.brake(self.setup, conversation)) is not None:
                return bound
        return None

    def call_limit(self, conversation: Conversation) -> CallLimit | None:
        """The lowest limit of the calls of the next answer; None if it may have any number."""
        given = [one.call_limit(self.setup, conversation) for one in self.all if one.call_limit is not None]
        return min((limit for limit in given if limit is not None), key=lambda limit: limit.many, default=None)

    def notes_after_compaction(self, conversation: Conversation) -> list[str]:
        """Texts to place after a summary of the conversation, whatever the summary covers."""
        return [
            text
            for one in self.all
            if one.notes_after_compaction is not None
            for text in one.notes_after_compaction(self.setup, conversation)
        ]

    def closing(self, conversation: Conversation, answer: Answer) -> Continue | Abort | None:
        """The first answer of the closings after a model call without tool calls; None if the answer is whole."""
        for one in self.all:
            if one.closing is not None and (what := one.closing(conversation, answer)):
                return what
        return None


def offered(capabilities: Sequence[Capability], setup: Setup, tools: Sequence[Tool]) -> Sequence[ToolSpec]:
    """The definitions of these tools that every capability offers. Each capability is called once for all tools: once
    for each tool it took longer than the whole rest of a run's start."""
    specs: Sequence[ToolSpec] = [tool.spec for tool in tools]
    for one in capabilities:
        if one.offers is not None:
            specs = one.offers(setup, specs)
    return specs


async def tools_of(capabilities: Sequence[Capability], setup: Setup) -> list[Tool]:
    """The tools of an agent with this setup."""
    found: dict[str, Tool] = {}
    kind = setup.subagent
    for one in capabilities:
        if one.tools is None:
            continue
        for tool in await one.tools(setup):
            spec = tool.spec
            if spec.name not in found and (kind is None or kind.has(spec) or spec.name in PAIR):
                found[spec.name] = tool
    return [*found.values()]
