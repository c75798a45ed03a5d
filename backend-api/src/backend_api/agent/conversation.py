"""One agent's conversation as its model reads it next: what a thread comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from backend_api.agent.attachments import Attached
from backend_api.agent.calls_made import CallMade
from backend_api.agent.chosen import NOTHING_CHOSEN, SessionChoices
from backend_api.agent.events import BackgroundStarted, CompactionWanted, ContextOpened, Task, Todo, Usage
from backend_api.agent.known_plan import NO_PLAN, KnownPlan
from backend_api.agent.model import AssistantTurn, NoteTurn, RenderedTurns, ToolTurn, Turn
from backend_api.agent.pictures import Picture
from backend_api.agent.sizes import estimated_tokens
from backend_api.agent.tasks import TaskEdit
from backend_api.agent.tool_families import LOAD_TOOL

LONG_RESULT = 100
"""Characters: of what is no longer nothing is gained by leaving it out."""
MARKER = "[Previous: used {tool}]"


class ResultAt(NamedTuple):
    """Where the result of a call stands among the turns, and about how many tokens all long ones up to it have: summed
    up as they come, as looking at each of them before every turn would take longer the longer the conversation is."""

    turn: int
    long_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnUse:
    """What one sub-agent used: `calls` of tools, `tokens` that were new to it, and how long workers had the run since
    it began, up to the run's last event."""

    calls: int = 0
    tokens: int = 0
    worked: timedelta = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What the model reads next. `seen_seq` is the last user message in it, `next_turn` the number of the run's next
    model call, `is_answered` whether the run's last step already is a whole answer to all of it, `usage` what the run
    used so far and `worked` how long workers had it up to `last_at`, `turns_of_others` how many model calls its other
    agents began and `others_at_work` how many of those are not over, `continuations` how often it went on with an
    answer. `opened` is what stands before it, `opened_at` the number of turns there were then, and `notes` what the
    model was told last of each kind. `pictures` are the indices of the turns that have some, `results` where those of
    tools stand, `lasting` how many of the first turns will be sent unchanged whatever is left out next, and
    `chosen` is what the session chose by now. `context_tokens` are those that the last model call read and wrote, 0
    where that is not known, `last_calls` the last ones of tools since a person said something. The first
    `closed_turns` stand for all up to the event `through_seq`, and are what a summary replaces; it `is_compacted`
    until the next opening, and `is_just_compacted` until the next answer. `todos` is the agent's own working list,
    `tasks` are the session's, `background` the commands that run in the background, `instructions` those of folders
    it came to work in, by the paths of their files, `skills_read` the names of skills it has read, and `loaded` the
    families of tools that were loaded, each with what was looked for in it. `rendered` is what was made of its turns to
    be sent. `attached` are the pictures of messages it has not read, which nobody has looked at yet. `own` is what a
    sub-agent used of all this itself."""

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
    chosen: SessionChoices = NOTHING_CHOSEN
    context_tokens: int = 0
    last_calls: Sequence[CallMade] = ()
    worked: timedelta = timedelta()
    last_at: datetime | None = None
    closed_turns: int = 0
    through_seq: int = 0
    is_compacted: bool = False
    is_just_compacted: bool = False
    has_compaction_failed: bool = False
    compaction_wanted: CompactionWanted | None = None
    plan: KnownPlan = NO_PLAN
    todos: Sequence[Todo] = ()
    tasks: Sequence[Task] = ()
    task_edits: Sequence[TaskEdit] = ()
    instructions: Mapping[str, str] = field(default_factory=dict[str, str])
    skills_read: Sequence[str] = ()
    loaded: Sequence[tuple[str, str]] = ()
    rendered: RenderedTurns = field(default_factory=RenderedTurns, compare=False, repr=False)
    background: Sequence[BackgroundStarted] = ()
    attached: Sequence[Attached] = ()
    own: OwnUse = field(default_factory=OwnUse)

    @property
    def unread_from(self) -> int:
        """The first of its turns that came since the model last said something, which it has not read yet."""
        for at in reversed(range(len(self.turns))):
            if isinstance(self.turns[at], AssistantTurn):
                return at + 1
        return 0

    @property
    def uncounted_from(self) -> int:
        """The first of its turns that are not among the `context_tokens`."""
        return self.unread_from if self.context_tokens else 0

    def worked_until(self, now: datetime) -> timedelta:
        """How long workers had the run, one of them until now."""
        return self.worked + self._since_last(now)

    def own_work_until(self, now: datetime) -> timedelta:
        """How long workers had the run since this agent began, one of them until now."""
        return self.own.worked + self._since_last(now)

    def _since_last(self, now: datetime) -> timedelta:
        return now - self.last_at if self.last_at is not None else timedelta()

    def shown_pictures(self) -> list[Picture]:
        """Those of its turns that have some."""
        turns = [self.turns[index] for index in self.pictures]
        return [picture for turn in turns if isinstance(turn, ToolTurn | NoteTurn) for picture in turn.pictures]

    def reopened(self, opened: ContextOpened) -> Conversation:
        """As it is sent after another opening."""
        turns = left_at_opening(self.turns, self.results[: opened.replaced])
        return replace(self, turns=turns, opened=opened, opened_at=len(self.turns))


def results_at(turns: Iterable[Turn], begin: int, before: Sequence[ResultAt]) -> list[ResultAt]:
    """Which of these turns, the first of which has the index `begin`, are results, after those `before` them."""
    tokens = before[-1].long_tokens if before else 0
    found: list[ResultAt] = []
    for index, turn in enumerate(turns, begin):
        if isinstance(turn, ToolTurn):
            tokens += estimated_tokens(turn.output) if _is_long(turn) else 0
            found.append(ResultAt(index, tokens))
    return found


def left_at_opening(turns: Iterable[Turn], replaced: Sequence[ResultAt]) -> list[Turn]:
    """What is left of what was said before an opening: no thinking, and a line in place of each long one of the results
    that it has `replaced`. Done once, as it would otherwise be done anew before every turn."""
    left = without_thinking(turns)
    for index, _ in replaced:
        turn = left[index]
        if isinstance(turn, ToolTurn) and _is_long(turn):
            left[index] = replace(turn, output=MARKER.format(tool=turn.name))
    return left


def without_thinking(turns: Iterable[Turn]) -> list[Turn]:
    """Providers bind thinking to every byte before it, and at an opening those change. A turn without any stays the
    same one, with what was made of it once."""
    return [replace(turn, thinking=()) if isinstance(turn, AssistantTurn) and turn.thinking else turn for turn in turns]


def _is_long(result: ToolTurn) -> bool:
    # Of tools that were loaded the model reads what they take for as long as it may call them.
    return len(result.output) > LONG_RESULT and result.name != LOAD_TOOL
