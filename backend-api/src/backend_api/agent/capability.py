"""What the agent does beside asking, calling, recording and deciding to stop: each a value in a file of its own.

A capability keeps nothing: what it must remember is in the log, so that another worker goes on the same way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from backend_api.agent.answer import Answer
from backend_api.agent.chosen import NOTHING_CHOSEN, SessionChoices
from backend_api.agent.conversation import Conversation
from backend_api.agent.ending import Ending
from backend_api.agent.events import CompactionKind, ContextCompacted, ContextNote, ContextOpened, Notice
from backend_api.agent.model import CONTEXT_WINDOW
from backend_api.agent.options import JUDGED_BY, NO_OPTIONS, AgentMode, Options, merged, session_options
from backend_api.agent.preset import NO_PRESET, Preset
from backend_api.agent.sizes import CountTokens, count_estimated
from backend_api.agent.subagent_kinds import BUILT_IN, MAIN, SubagentKind
from backend_api.agent.team import Membership
from backend_api.agent.tool import Tool, ToolSpec
from backend_api.agent.tool_families import PAIR, Family, ToolSet
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What an agent works with. `options` are those of all layers together, `below` those below the session's, and
    `preset` is the one among these layers; `tools` are all that it may use, empty while they are asked for, and
    `tool_set` what it is told of them; `context_window` is that of its model, in tokens, and `count_tokens` counts as
    that does; `kinds` are those that sub-agents may be of, and `kind` names its own;
    `loaded` is what each capability, by its name, loaded of the user as the run began; `mcp_tools` are those that its
    MCP servers offer; `membership` is who it is in
    the run's team, where it has one."""

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
        """As calls are judged now that the session has chosen so."""
        mode = self.mode if chosen == NOTHING_CHOSEN else self.mode_by(chosen)
        setup = self if mode == self.mode else replace(self, mode=mode)
        if chosen.options is None:
            return setup
        now = self._options_by(chosen.options)
        return replace(setup, options=replace(self.options, **{name: getattr(now, name) for name in JUDGED_BY}))

    def mode_by(self, chosen: SessionChoices) -> AgentMode:
        """The one that the agent is in now that the session has chosen so."""
        if chosen.mode is not None:
            return chosen.mode
        return (self.options if chosen.options is None else self._options_by(chosen.options)).mode

    def _options_by(self, chosen: Mapping[str, Any]) -> Options:
        return merged(self.below, session_options(None, chosen))

    @property
    def missing_preset(self) -> str | None:
        """The preset that was chosen and is gone, None where it is there."""
        chosen = self.options.preset
        return chosen if chosen != self.preset.id else None

    @property
    def subagent(self) -> SubagentKind | None:
        """The kind it is of; None for the main agent."""
        return None if self.kind == MAIN else {kind.name: kind for kind in self.kinds}[self.kind]

    @property
    def first_tools(self) -> frozenset[str]:
        """Names and globs of those that it is told from the start beside the usual ones."""
        of_kind = self.subagent.first if self.subagent is not None else frozenset[str]()
        of_team = self.membership.first_tools if self.membership is not None else frozenset[str]()
        return self.preset.first | of_kind | of_team

    @property
    def told_tools(self) -> Sequence[ToolSpec]:
        """Those that it is told from the start."""
        return self.tools if self.tool_set is None else self.tool_set.first

    @property
    def families(self) -> Sequence[Family]:
        """Those that its other tools are in."""
        return () if self.tool_set is None else self.tool_set.families

    @property
    def has_sandbox(self) -> bool:
        """Whether one of its tools works on a sandbox."""
        # A list is one call, where a generator is one for each tool.
        return True in [tool.needs_sandbox for tool in self.tools]

    def has_tool(self, name: str) -> bool:
        """Whether it has a tool of this name."""
        return name in [tool.name for tool in self.tools]


class ToolSource(Protocol):
    """Where tools come from: asked for each agent, at its opening."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The tools of an agent with this setup."""
        ...


@dataclass(frozen=True, slots=True)
class Continue:
    """The answer is not whole: ask again, after this note."""

    note: str


@dataclass(frozen=True, slots=True)
class Abort:
    """The answer is not whole and stays so, which is said."""

    notice: Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A call that the model asks for, before anything is done about it. `is_held_back`: its provider wants a person to
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
    """The next turn may begin once an answer that another agent of the run is at is over, and is judged anew then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalTurn:
    """The next answer is the last one: asked for without tools after this note, and then the run ends so."""

    note: ContextNote
    ending: Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """Before the next turn the conversation, of about `size` tokens, is to be replaced by a summary of it, which tells
    most of `focus`. A size of 0 is not known: its provider found it too long."""

    kind: CompactionKind
    size: int = 0
    focus: str | None = None


DEFER = WaitForOthers()
Bound = Ending | Compact | FinalTurn | WaitForOthers
"""What may stand before a turn."""
Verdict = Allow | Ask | Deny
ALLOW = Allow()


class Judge(Protocol):
    """What becomes of a call, by what the session chose since the agent's setup was made."""

    def __call__(self, call: ProposedCall, chosen: SessionChoices = NOTHING_CHOSEN) -> Verdict: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What of the history the model is sent. `apply` is pure, and makes the same of a turn until the next opening;
    `is_due` says that an opening is to leave something out; `limit` writes what it leaves out into one, and `tell` says
    of that what is recorded beside it. All read the log alone, and never how much time has passed or what another
    process knows."""

    apply: Callable[[Conversation], Conversation]
    is_due: Callable[[Conversation], bool] = lambda _: False
    limit: Callable[[Conversation, ContextOpened], ContextOpened] = lambda _, opened: opened
    tell: Callable[[Conversation, ContextOpened], ContextCompacted | None] = lambda _, _opened: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What it `load`s of a user, or `load_of_session`, as a run of theirs begins, and what that has the session's
    options be where it chooses none (`defaults`); `sections` of the system prompt and `tools`, both frozen at an
    opening; which of all tools it `offers` the model; `notes` told before an answer; `projections` of the history;
    what of it is `kept` with a summary, word for word; a `gate` that judges each call; a `brake` that may end the
    run before a turn, make that the last one, or put it off; a `closing` that may go on with an answer. What it has
    none of is None. The order of capabilities is that of what they say, and of two tools of one name the first
    one's counts: one of a module stands behind the one that it names as `after`."""

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
    kept: Callable[[Setup, Conversation], Sequence[str]] | None = None
    closing: Callable[[Conversation, Answer], Continue | Abort | None] | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """All of an agent's, in their order, for one setup. A capability is asked only for what it has: most have little,
    and asking all was an eighth of a turn's calls."""

    all: Sequence[Capability]
    setup: Setup

    def system_prompt(self) -> str:
        """The same whenever it is asked for."""
        own = [one.sections(self.setup) for one in self.all if one.sections is not None]
        return "\n\n".join([text for texts in own for text in texts])

    def judge(self, call: ProposedCall, chosen: SessionChoices = NOTHING_CHOSEN) -> Verdict:
        """The strictest verdict of all gates, of several alike the first one's; by what the session chose since."""
        setup = self.setup.judging(chosen)
        verdicts = [one.gate(setup, call) for one in self.all if one.gate is not None]
        return next((verdict for kind in (Deny, Ask) for verdict in verdicts if isinstance(verdict, kind)), ALLOW)

    def changed_mode(self, conversation: Conversation) -> AgentMode | None:
        """The mode that the agent is in by now, where that is not the setup's."""
        mode = self.setup.mode_by(conversation.chosen)
        return mode if mode != self.setup.mode else None

    def notes(self, conversation: Conversation) -> list[ContextNote]:
        """What the model is to know now, whether it was told or not."""
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

    def told(self, conversation: Conversation, opened: ContextOpened) -> list[ContextCompacted]:
        """Of what the opening leaves out of the history before it, and the last one did not."""
        tells = (projection.tell(conversation, opened) for one in self.all for projection in one.projections)
        return [told for told in tells if told is not None]

    def project(self, conversation: Conversation) -> Conversation:
        """What the model is sent of it."""
        for one in self.all:
            for projection in one.projections:
                conversation = projection.apply(conversation)
        return conversation

    async def brake(self, conversation: Conversation) -> Bound | None:
        """What stands before the next turn: its end, one that is the last, or what comes first."""
        for one in self.all:
            if one.brake is not None and (bound := await one.brake(self.setup, conversation)) is not None:
                return bound
        return None

    def kept(self, conversation: Conversation) -> list[str]:
        """What stands beside a summary of the conversation, however well that tells it."""
        return [text for one in self.all if one.kept is not None for text in one.kept(self.setup, conversation)]

    def closing(self, conversation: Conversation, answer: Answer) -> Continue | Abort | None:
        """What follows a model call that asked for no tool; None where the answer is whole."""
        for one in self.all:
            if one.closing is not None and (what := one.closing(conversation, answer)):
                return what
        return None


def offered(capabilities: Sequence[Capability], setup: Setup, tools: Sequence[Tool]) -> Sequence[ToolSpec]:
    """What the model is told of these tools: those that every capability offers. Each is asked once for all of them:
    asked of each tool it took longer than all else that is made for a run."""
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
