"""One agent's conversation: a fold of the session's recorded stream, one event at a time.

Pure: the same events give the same turns, on any worker, whether they are applied one at a time or all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from backend_api.domain.agent.calls_made import CallMade, LastCalls
from backend_api.domain.agent.events import (
    NOTES_OF_A_RUN,
    ApprovalRequested,
    ApprovalResolved,
    CompactionWanted,
    ContextCompacted,
    ContextNote,
    ContextOpened,
    Continuation,
    Event,
    FilesChanged,
    MessageCompleted,
    MessageUser,
    Notice,
    PlanProposed,
    QuestionAsked,
    RunFinished,
    RunQueued,
    RunStarted,
    SubagentStarted,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
    ToolStarted,
    Usage,
    UsageUpdated,
)
from backend_api.domain.agent.model import AssistantTurn, NoteTurn, Thinking, ToolRequest, ToolTurn, Turn, UserTurn
from backend_api.domain.agent.options import AgentMode
from backend_api.domain.agent.pictures import PICTURE_TYPES, Picture
from backend_api.domain.agent.plan_mode import ModeFold

MAX_RESULT_CHARACTERS = 16_000
ASKED = (ApprovalRequested, QuestionAsked, PlanProposed)
"""With which a run begins to wait."""
SUMMARY = """\
The conversation so far was replaced by this summary of it. What is not told here you don't know any more; look it up \
where you can.{transcript}

{summary}"""
WHOLE = " All of it stands in the file {path}."
COMPACTION_FAILED = "compaction_failed"
NO_RESULT = (
    "No result was recorded: the call was interrupted. It may have happened, in whole or in part; check before "
    "repeating it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What the model reads next. `seen_seq` is the last user message in it, `next_turn` the number of the run's next
    model call, `is_answered` whether the run's last step already is a whole answer to all of it, `usage` what the run
    used so far and `worked` how long workers had it up to `last_at`, `turns_of_others` how many model calls its other
    agents began and `others_at_work` how many of those are not over, `continuations` how often it went on with an
    answer. `opened` is what stands before it, `opened_at` the number of turns there were then, and `notes` what the
    model was told last of each kind. `pictures` are the indices of the turns that have some, `results` those of tools'
    results, `lasting` how many of the first turns will be sent unchanged whatever is left out next, and `mode` is that
    of the session, None where nothing was said of it. `context_tokens` are those that the last model call read and
    wrote, 0 where that is not known, `last_calls` the last ones of tools since a person said something. The first
    `closed_turns` stand for all up to the event `through_seq`, and are what a summary replaces; it `is_compacted` until
    the next opening, and `is_just_compacted` until the next answer."""

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
    results: Sequence[int] = ()
    lasting: int = 0
    mode: AgentMode | None = None
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

    def worked_until(self, now: datetime) -> timedelta:
        """How long workers had the run, one of them until now."""
        return self.worked + (now - self.last_at if self.last_at is not None else timedelta())

    def shown_pictures(self) -> list[Picture]:
        """Those of its turns that have some."""
        turns = [self.turns[index] for index in self.pictures]
        return [picture for turn in turns if isinstance(turn, ToolTurn) for picture in turn.pictures]

    def reopened(self, opened: ContextOpened) -> Conversation:
        """As it is sent after another opening."""
        return replace(self, turns=without_thinking(self.turns), opened=opened, opened_at=len(self.turns))


@dataclass(slots=True)
class RunProgress:
    """How far an agent has come in a run, as recorded. `open_calls` were recorded as starting and never as ended; of
    them those `needing_approval` never started, and may once they are `approved`. `attempts_without_progress` counts
    the run's starts since a tool last gave it a result. `usage` of the main agent is the whole run's, and `turns_below`
    counts the answers of those that work for it."""

    run_id: str
    last_turn: int = 0
    usage: Usage = field(default_factory=Usage)
    files: list[str] = field(default_factory=list[str])
    open_calls: dict[str, ToolCalled] = field(default_factory=dict[str, ToolCalled])
    needing_approval: set[str] = field(default_factory=set[str])
    approved: set[str] = field(default_factory=set[str])
    attempts_without_progress: int = 0
    continuations: int = 0
    calls: int = 0
    turns_below: int = 0
    since: datetime | None = None
    worked: timedelta = timedelta()
    last_at: datetime | None = None
    is_waiting: bool = False

    def apply(self, event: Event) -> None:
        """Add the next event of this agent in this run."""
        payload = event.payload
        self._count_time(event)
        self.since = self.since or event.at
        self.last_turn = max(self.last_turn, getattr(payload, "turn", 0))
        match payload:
            case RunStarted():
                self.attempts_without_progress += 1
            case MessageCompleted():
                self.continuations += len(payload.continuations)
            case ToolCalled():
                self.open_calls[payload.call_id] = payload
                self.calls += 1
                if payload.asks:
                    self.needing_approval.add(payload.call_id)
            case ApprovalResolved():
                if payload.decision != "deny":
                    self.approved.update(payload.call_ids)
            case ToolStarted():
                self.needing_approval.discard(payload.call_id)
            case ToolFinished():
                self.open_calls.pop(payload.call_id, None)
                self.needing_approval.discard(payload.call_id)
                if payload.preview != NO_RESULT:
                    self.attempts_without_progress = 0
            case UsageUpdated():
                self.usage = payload.agent_usage or payload.usage
            case FilesChanged():
                self.files.extend(path for path in payload.paths if path not in self.files)
            case _:
                pass

    def apply_of_another(self, event: Event) -> None:
        """What an agent below it did counts as the run's."""
        self._count_time(event)
        match event.payload:
            case ToolFinished() as finished if finished.preview != NO_RESULT:
                self.attempts_without_progress = 0
            case UsageUpdated():
                self.usage = event.payload.usage
                self.turns_below += 1
            case _:
                pass

    def _count_time(self, event: Event) -> None:
        """A worker has the run from its start until it waits, or is left to another one."""
        match event.payload:
            case RunStarted():
                self.is_waiting = False
            case _ if self.last_at is not None and not self.is_waiting:
                self.worked += max(event.at - self.last_at, timedelta())
            case _:
                pass
        self.last_at = event.at
        if isinstance(event.payload, ASKED):
            self.is_waiting = True


@dataclass(slots=True)
class _Step:
    """One model call: what it was told, what it said, what it asked for and what came back."""

    run_id: str | None
    turn: int
    first_seq: int
    notes: list[NoteTurn] = field(default_factory=list[NoteTurn])
    texts: list[str] = field(default_factory=list[str])
    continuations: list[Continuation] = field(default_factory=list[Continuation])
    thinking: list[ThinkingCompleted] = field(default_factory=list[ThinkingCompleted])
    calls: dict[str, ToolCalled] = field(default_factory=dict[str, ToolCalled])
    results: dict[str, ToolTurn] = field(default_factory=dict[str, ToolTurn])
    seen_seq: int = 0
    has_said: bool = False
    is_partial: bool = False

    @property
    def read_until(self) -> int:
        """Number of the last event the model can have read; logs of old do not tell it of thinking alone."""
        return self.seen_seq or (self.first_seq if self.has_said or self.calls else 0)

    @property
    def is_answer(self) -> bool:
        """Whether it said all it was to say, and asked for nothing more."""
        return self.has_said and not self.is_partial and not self.calls

    def turns(self) -> list[Turn]:
        """What it adds to the conversation."""
        said: list[Turn] = [*self.notes]
        text, begin = "".join(self.texts), 0
        for index, continuation in enumerate(self.continuations):
            if piece := text[begin : continuation.at]:
                said.append(AssistantTurn(text=piece, thinking=self._thinking(index, begin)))
            said.append(NoteTurn(text=continuation.note))
            begin = continuation.at
        calls = tuple(
            ToolRequest(call_id=called.call_id, name=called.name, arguments=called.arguments)
            for called in self.calls.values()
        )
        text, thinking = text[begin:], self._thinking(len(self.continuations), begin)
        if text or calls:
            said.append(AssistantTurn(text=text, thinking=thinking, calls=calls))
        for called in self.calls.values():
            missing = ToolTurn(call_id=called.call_id, name=called.name, output=NO_RESULT, success=False)
            said.append(self.results.get(called.call_id, missing))
        return said

    def _thinking(self, continued: int, begin: int) -> tuple[Thinking, ...]:
        return tuple(
            Thinking(text=one.text, signature=one.signature, opaque=one.opaque, offset=max(one.offset - begin, 0))
            for one in self.thinking
            if one.continued == continued
        )


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text over the limit, with a mark that says how much is left out."""
    if len(text) <= limit:
        return text
    mark = f"\n[... {len(text) - limit} characters left out ...]\n"
    keep = max(limit - len(mark), 0)
    head = keep * 2 // 3
    return text[:head] + mark + (text[len(text) - (keep - head) :] if keep > head else "")


class Thread:
    """What one agent said, did and was told up to the last event applied, none of them another agent's (see `Threads`);
    applying one costs the same however many came before.

    A call without a result gets one that says so, as providers refuse a conversation that lacks one. A user message
    the model had not read when it spoke comes after what it said.
    """

    def __init__(self) -> None:
        self.first_message: str | None = None
        self._closed: list[Turn] = []
        self._unread: list[tuple[int, UserTurn]] = []
        self._step: _Step | None = None
        self._last_step: _Step | None = None
        self.seen_seq = 0
        """The last message there is in it, read or not."""
        self._progress: RunProgress | None = None
        self._opened: ContextOpened | None = None
        self._opened_at = 0
        self._pictures: list[int] = []
        self._results: list[int] = []
        self._notes: list[NoteTurn] = []
        self._known: dict[str, str] = {}
        self._mode = ModeFold()
        self._context_tokens = 0
        self._last_calls = LastCalls()
        self._seq = 0
        self._is_compacted = False
        self._compacted_before: tuple[str, int] | None = None
        """The run and the number of its turn."""
        self._failed_in: str | None = None
        self._wanted: CompactionWanted | None = None
        self._compacts_alone: str | None = None
        """The run that began to sum up, and for nothing else."""

    def apply(self, event: Event, output: str | None = None) -> None:
        """Add the next event. `output` is the text that stands beside it, where the preview of a result is not all."""
        self._apply_to_progress(event)
        self._seq = event.seq or self._seq
        self._mode.apply(event.payload)
        match event.payload:
            case MessageUser() as message:
                seq = event.seq or 0
                self.seen_seq = max(self.seen_seq, seq)
                self._unread.append((seq, UserTurn(text=message.text, attachments=tuple(message.attachments))))
                self._last_calls.forget()
                if self.first_message is None:
                    self.first_message = message.text
            case SubagentStarted() as started:
                self.seen_seq = event.seq or 0
                self._unread.append((self.seen_seq, UserTurn(text=started.task)))
            case MessageCompleted() as message:
                step = self._open(event, message.turn)
                step.has_said = True
                step.texts.append(message.text)
                step.continuations += message.continuations
                step.seen_seq = max(step.seen_seq, message.seen_seq)
                step.is_partial = step.is_partial or message.partial
            case ThinkingCompleted() as thinking:
                step = self._open(event, thinking.turn)
                step.thinking.append(thinking)
                step.seen_seq = max(step.seen_seq, thinking.seen_seq)
            case ToolCalled() as called:
                step = self._open(event, called.turn)
                step.calls[called.call_id] = called
                step.seen_seq = max(step.seen_seq, called.seen_seq)
            case ToolFinished() as finished:
                self._apply_result(event.seq, finished, output)
            case ContextOpened() as opened:
                self._close_step()
                self._closed = without_thinking(self._closed)
                self._opened, self._opened_at, self._is_compacted = opened, len(self._closed), False
            case ContextCompacted() as compacted:
                self._compact(event.run_id, compacted)
            case CompactionWanted() as wanted:
                self._wanted, self._failed_in = wanted, None
            case Notice(code=code) if code == COMPACTION_FAILED:
                self._failed_in, self._wanted = event.run_id, None
            case RunQueued(cause="compact"):
                self._compacts_alone = event.run_id
            case ContextNote() as note:
                self._notes.append(NoteTurn(text=note.text))
                self._known[note.kind] = note.text
            case UsageUpdated() as used:
                self._context_tokens = used.context
            case RunFinished():
                self._close_step()
                self._last_calls.forget()
                for kind in NOTES_OF_A_RUN:
                    self._known.pop(kind, None)
            case _:
                pass

    @property
    def mode(self) -> AgentMode | None:
        """As in `Conversation`."""
        return self._mode.mode

    @property
    def read_seq(self) -> int:
        """The last message that the model had read when it last said something."""
        return self._last_step.read_until if self._last_step is not None else 0

    def progress(self, run_id: str) -> RunProgress:
        """Of the run at work; of any other one, nothing is known to have happened."""
        known = self._progress
        return known if known is not None and known.run_id == run_id else RunProgress(run_id)

    def conversation(self, run_id: str) -> Conversation:
        """Turns for the model, for its next call in this run."""
        last, progress = self._last_step, self.progress(run_id)
        said: list[Turn] = []
        unread: Sequence[tuple[int, UserTurn]] = self._unread
        if self._step is not None:
            read, unread = _split(self._unread, self._step.read_until)
            said = [*read, *self._step.turns()]
        shown, results = _with_pictures(said, len(self._closed)), _results(said, len(self._closed))
        is_whole = last is not None and last.run_id == run_id and last.is_answer
        if self._compacts_alone is not None and self._compacts_alone == run_id:
            is_whole = self._wanted is None
        return Conversation(
            turns=[*self._closed, *said, *(turn for _, turn in unread), *self._notes],
            seen_seq=self.seen_seq,
            next_turn=progress.last_turn + 1,
            is_answered=is_whole and not unread,
            usage=progress.usage,
            continuations=progress.continuations,
            opened=self._opened,
            opened_at=self._opened_at,
            notes={**self._known},
            pictures=[*self._pictures, *shown],
            results=[*self._results, *results],
            mode=self.mode,
            context_tokens=self._context_tokens,
            last_calls=self._last_calls.all(),
            worked=progress.worked,
            last_at=progress.last_at,
            closed_turns=len(self._closed),
            through_seq=self._step.first_seq - 1 if self._step is not None else self._seq,
            is_compacted=self._is_compacted,
            is_just_compacted=self._compacted_before == (run_id, progress.last_turn + 1),
            has_compaction_failed=self._failed_in == run_id,
            compaction_wanted=self._wanted,
        )

    def apply_of_another(self, event: Event) -> None:
        """Count the next event of an agent that works for this one: nothing of it is said here."""
        if self._progress is not None and self._progress.run_id == event.run_id:
            self._progress.apply_of_another(event)

    def _apply_to_progress(self, event: Event) -> None:
        """A session has one run at a time, so the first event of another one ends what was known of the last."""
        if event.run_id is None:
            return
        if self._progress is None or self._progress.run_id != event.run_id:
            self._progress = RunProgress(event.run_id)
        self._progress.apply(event)

    def _open(self, event: Event, turn: int) -> _Step:
        step = self._step
        if step is None or step.run_id != event.run_id or step.turn != turn:
            self._close_step()
            step = _Step(run_id=event.run_id, turn=turn, first_seq=event.seq or 0, notes=self._notes)
            self._step = self._last_step = step
            self._notes = []
        return step

    def _apply_result(self, seq: int | None, finished: ToolFinished, output: str | None) -> None:
        step = self._step
        if step is None or finished.call_id not in step.calls:
            return
        step.results[finished.call_id] = ToolTurn(
            call_id=finished.call_id,
            name=step.calls[finished.call_id].name,
            output=shorten(finished.preview if output is None else output, MAX_RESULT_CHARACTERS),
            success=finished.success,
            pictures=_pictures_of(seq, finished),
        )
        self._last_calls.add(step.calls[finished.call_id], step.results[finished.call_id], finished.body)

    def _compact(self, run_id: str | None, compacted: ContextCompacted) -> None:
        """The step that led to it stays whole, and with it what the person said last."""
        transcript = WHOLE.format(path=compacted.transcript) if compacted.transcript else ""
        summary = NoteTurn(text=SUMMARY.format(summary=compacted.summary, transcript=transcript))
        last = next((turn for turn in reversed(self._closed) if isinstance(turn, UserTurn)), None)
        self._closed = [summary, *([last] if last is not None else [])]
        self._pictures, self._results, self._context_tokens = [], [], 0
        if self._opened is not None:
            self._opened = replace(self._opened, pictures=0, replaced=0)
        self._opened_at, self._is_compacted, self._wanted = 0, True, None
        turn = self._progress.last_turn + 1 if self._progress is not None else 1
        self._compacted_before = (run_id or "", turn)

    def _close_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            read, self._unread = _split(self._unread, step.read_until)
            said = [*read, *step.turns()]
            self._pictures += _with_pictures(said, len(self._closed))
            self._results += _results(said, len(self._closed))
            self._closed += said


def without_thinking(turns: Iterable[Turn]) -> list[Turn]:
    """What is left at an opening: providers bind thinking to every byte before it, and those have changed."""
    return [replace(turn, thinking=()) if isinstance(turn, AssistantTurn) else turn for turn in turns]


def _pictures_of(seq: int | None, finished: ToolFinished) -> tuple[Picture, ...]:
    body = finished.body
    if seq is None or body is None or body.media_type not in PICTURE_TYPES:
        return ()
    return (Picture(seq=seq, media_type=body.media_type, size=body.size),)


def _with_pictures(turns: Sequence[Turn], begin: int) -> list[int]:
    """Which of the turns from index `begin` on have pictures."""
    return [begin + index for index, turn in enumerate(turns) if isinstance(turn, ToolTurn) and turn.pictures]


def _results(turns: Sequence[Turn], begin: int) -> list[int]:
    """Which of the turns from index `begin` on are results of tools."""
    return [begin + index for index, turn in enumerate(turns) if isinstance(turn, ToolTurn)]


def _split(
    unread: Sequence[tuple[int, UserTurn]], read_until: int
) -> tuple[list[UserTurn], list[tuple[int, UserTurn]]]:
    """The messages up to an event's number, and those after it."""
    return [turn for seq, turn in unread if seq <= read_until], [one for one in unread if one[0] > read_until]
