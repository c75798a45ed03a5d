"""One agent's conversation as its model reads it next, made from its thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from backend_api.agent.attachments import Attached
from backend_api.agent.events import BackgroundStarted, CompactionWanted, ContextOpened, Task, Todo, Usage
from backend_api.agent.model import AssistantTurn, NoteTurn, RenderedTurns, ToolTurn, Turn
from backend_api.agent.pictures import Picture
from backend_api.agent.plan_fold import NO_PLAN, ActivePlan
from backend_api.agent.recent_calls import CallSummary
from backend_api.agent.session_choices import NO_CHOICES, SessionChoices
from backend_api.agent.sizes import estimated_tokens
from backend_api.agent.tasks import TaskEdit
from backend_api.agent.tool_families import LOAD_TOOL

LONG_RESULT = 100
"""Characters up to which a result stays whole, as leaving it out gains nothing."""
MARKER = "[Previous: used {tool}]"


class ResultAt(NamedTuple):
    """The index of a tool result among the turns, and an estimate of the tokens of all long results up to it: a running
    sum, as adding them up before every turn would take longer the longer the conversation is."""

    turn: int
    long_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentUsage:
    """What one sub-agent used: `calls` of tools, `tokens` that were new to it, and how long workers had the run since
    it began, up to the run's last event."""

    calls: int = 0
    tokens: int = 0
    worked: timedelta = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Everything the model reads next. `seen_seq` is the number of the last user message in it, `next_turn` that of the
    run's next model call; `is_answered` is whether the run's last step is already a whole answer to all of it. `usage`
    is the run's so far, and `worked` how long workers held it up to `last_at`. `turns_of_others` counts the model calls
    that its other agents began, `others_at_work` those of them under way, and `continuations` the continued answers.
    `opened` is the current opening, `opened_at` the number of turns at that time, and `notes` the last note of each
    kind. `pictures` are the indices of turns with pictures, `results` the places of tool results, `lasting` how many of
    the first turns will be sent unchanged whatever is left out next, and `chosen` the session's latest choices.
    `context_tokens` are those that the last model call read and wrote (0 if not known), `last_calls` the last tool
    calls since the person's last message. The first `closed_turns` stand for all events up to `through_seq`, and are
    what a summary replaces; it `is_compacted` until the next opening, and `is_just_compacted` until the next answer.
    `todos` is the agent's own list, `tasks` are the session's, `background` the running background commands,
    `instructions` those of folders in which it worked, by the paths of their files, `skills_read` the names of skills
    it has read, and `loaded` the loaded families of tools, each with its search words. `rendered` caches how its turns
    are sent. `attached` are the pictures of messages that nobody has looked at yet.
    `own` is what a sub-agent itself used of all this."""

    turns: list[Turn]
    seen_seq: int
    next_turn: int
    is_answered: bool
    usage: Usage = field(default_factory=Usage)
    continuations: int = 0
    turns_of_others: int = 0
    others_at_work: int = 0
    opened: ContextOpened | None = None
    opened_at: int = 0
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    pictures: Sequence[int] = ()
    results: Sequence[ResultAt] = ()
    lasting: int = 0
    chosen: SessionChoices = NO_CHOICES
    context_tokens: int = 0
    last_calls: Sequence[CallSummary] = ()
    worked: timedelta = timedelta()
    last_at: datetime | None = None
    closed_turns: int = 0
    through_seq: int = 0
    is_compacted: bool = False
    is_just_compacted: bool = False
    has_compaction_failed: bool = False
    compaction_wanted: CompactionWanted | None = None
    plan: ActivePlan = NO_PLAN
    todos: Sequence[Todo] = ()
    tasks: Sequence[Task] = ()
    task_edits: Sequence[TaskEdit] = ()
    instructions: Mapping[str, str] = field(default_factory=dict[str, str])
    skills_read: Sequence[str] = ()
    loaded: Sequence[tuple[str, str]] = ()
    rendered: RenderedTurns = field(default_factory=RenderedTurns, compare=False, repr=False)
    background: Sequence[BackgroundStarted] = ()
    attached: Sequence[Attached] = ()
    own: SubagentUsage = field(default_factory=SubagentUsage)

    @property
    def unread_from(self) -> int:
        """The index of the first turn that came after the model's last answer, so that it has not read it yet."""
        for at in reversed(range(len(self.turns))):
            if isinstance(self.turns[at], AssistantTurn):
                return at + 1
        return 0

    @property
    def uncounted_from(self) -> int:
        """The index of the first turn that `context_tokens` does not count."""
        return self.unread_from if self.context_tokens else 0

    def worked_until(self, now: datetime) -> timedelta:
        """The time that workers held the run, the current one until now."""
        return self.worked + self._since_last(now)

    def agent_work_until(self, now: datetime) -> timedelta:
        """The time that workers held the run since this agent began, the current one until now."""
        return self.own.worked + self._since_last(now)

    def _since_last(self, now: datetime) -> timedelta:
        return now - self.last_at if self.last_at is not None else timedelta()

    def shown_pictures(self) -> list[Picture]:
        """The pictures of its turns."""
        turns = [self.turns[index] for index in self.pictures]
        return [picture for turn in turns if isinstance(turn, ToolTurn | NoteTurn) for picture in turn.pictures]

    def reopened(self, opened: ContextOpened) -> Conversation:
        """The conversation as it is sent after another opening."""
        turns = left_at_opening(self.turns, self.results[: opened.replaced])
        return replace(self, turns=turns, opened=opened, opened_at=len(self.turns))


def results_at(turns: Iterable[Turn], begin: int, before: Sequence[ResultAt]) -> list[ResultAt]:
    """The places of tool results among these turns, the first of which has the index `begin`; `before` are the earlier
    ones."""
    tokens = before[-1].long_tokens if before else 0
    found: list[ResultAt] = []
    for index, turn in enumerate(turns, begin):
        if isinstance(turn, ToolTurn):
            tokens += estimated_tokens(turn.output) if _is_long(turn) else 0
            found.append(ResultAt(index, tokens))
    return found


def left_at_opening(turns: Iterable[Turn], replaced: Sequence[ResultAt]) -> list[Turn]:
    """The turns that an opening keeps: without thinking, and with one line in place of each long result that it has
    `replaced`. This is done once, as it would otherwise be repeated before every turn."""
    left = without_thinking(turns)
    for index, _ in replaced:
        turn = left[index]
        if isinstance(turn, ToolTurn) and _is_long(turn):
            left[index] = replace(turn, output=MARKER.format(tool=turn.name))
    return left


def without_thinking(turns: Iterable[Turn]) -> list[Turn]:
    """Remove thinking, as providers bind it to every byte before it, which an opening changes. A turn without thinking
    stays the same object, with its cached form."""
    return [replace(turn, thinking=()) if isinstance(turn, AssistantTurn) and turn.thinking else turn for turn in turns]


def _is_long(result: ToolTurn) -> bool:
    # Definitions of loaded tools stay, as the model may call those tools at any time.
    return len(result.output) > LONG_RESULT and result.name != LOAD_TOOL
