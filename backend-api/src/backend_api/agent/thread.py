"""One agent's conversation: a fold of the session's log, one event at a time.

Pure: the same events give the same turns, on any worker, whether they are applied one at a time or all at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend_api.agent.attachments import Attached, attached_to
from backend_api.agent.background import describe_finished
from backend_api.agent.conversation import Conversation, ResultAt, left_at_opening, results_at
from backend_api.agent.events import (
    NOTES_OF_A_RUN,
    AttachmentRead,
    BackgroundFinished,
    BackgroundStarted,
    BodyReference,
    CompactionWanted,
    ContextCompacted,
    ContextNote,
    ContextOpened,
    ControlReturned,
    ControlTaken,
    Event,
    InstructionsFound,
    MessageCompleted,
    MessageUser,
    MessageWithdrawn,
    Notice,
    PathSelected,
    RunFinished,
    RunQueued,
    ScheduleFired,
    SessionUpdated,
    SubagentStarted,
    TasksUpdated,
    TeammateUpdated,
    TeamMessage,
    ThinkingCompleted,
    Todo,
    TodosUpdated,
    ToolCalled,
    ToolFinished,
    UsageUpdated,
)
from backend_api.agent.folder_instructions import remember
from backend_api.agent.model import NoteTurn, RenderedTurns, ToolTurn, Turn, UserTurn, pictures_in
from backend_api.agent.pictures import PICTURE_TYPES, Picture
from backend_api.agent.plan_fold import PlanFold
from backend_api.agent.plan_mode import ModeFold
from backend_api.agent.recent_calls import LastCalls
from backend_api.agent.run_progress import RunProgress
from backend_api.agent.schedule_messages import message_of
from backend_api.agent.session_choices import SessionChoices
from backend_api.agent.shortening import shorten
from backend_api.agent.skills import read_by
from backend_api.agent.step import Step
from backend_api.agent.tasks import NO_TASKS, TaskEdit, describe_edit
from backend_api.agent.team import message_text
from backend_api.agent.use_tool_calls import loaded_by

MAX_RESULT_CHARACTERS = 16_000
SUMMARY = """\
The conversation so far was replaced by this summary of it. What is not told here you don't know any more; look it up \
where you can.{transcript}

{summary}"""
WHOLE = " All of it stands in the file {path}."
COMPACTION_FAILED = "compaction_failed"
RETURNED = "A person controlled the computer until now. What is on the screen and in files may have changed."
RETURNED_WITH_NOTE = f"{RETURNED} They handed it back with this note:\n\n{{note}}"


class Thread:
    """One agent's events up to the last one applied, and no other agent's (see `Threads`); applying one costs the same
    however many came before.

    A call without a result gets one that says so, as providers refuse a conversation that lacks one. A user message
    that the model had not read when it answered comes after that answer.
    """

    def __init__(self) -> None:
        self.first_message: str | None = None
        self.started: SubagentStarted | None = None
        """The event that began a sub-agent's thread."""
        self._closed: list[Turn] = []
        self._unread: list[tuple[int, UserTurn | NoteTurn]] = []
        self._said: dict[int, str] = {}
        """The ids of the person's messages that may be unread, by their numbers."""
        self._attached: dict[int, Attached] = {}
        """Pictures nobody has looked at yet, by the numbers of their messages."""
        self._fired: ScheduleFired | None = None
        self._step: Step | None = None
        self._last_step: Step | None = None
        self.seen_seq = 0
        """The number of its last message, read or not."""
        self._progress: RunProgress | None = None
        self._opened: ContextOpened | None = None
        self._opened_at = 0
        self._pictures: list[int] = []
        self._results: list[ResultAt] = []
        self._notes: list[NoteTurn] = []
        self._rendered = RenderedTurns()
        self._known: dict[str, str] = {}
        self._mode = ModeFold()
        self._options: Mapping[str, Any] | None = None
        self._driver: str | None = None
        self._plan = PlanFold()
        self.todos: Sequence[Todo] = ()
        """The agent's own to-do list."""
        self.tasks = NO_TASKS
        """The session's tasks; sub-agents read them through the main agent's thread."""
        self._task_edits: list[TaskEdit] = []
        """Changes by the person that the model has not read yet."""
        self._instructions: dict[str, str] = {}
        self.skills_read: list[str] = []
        """Names of the skills it has read, in their order."""
        self.loaded: list[tuple[str, str]] = []
        """Loaded families of tools, each with its search words."""
        self._background: dict[str, BackgroundStarted] = {}
        """Commands that run in the background."""
        self._background_over: set[str] = set()
        """Commands whose end is stored, but not their start."""
        self._context_tokens = 0
        self._last_calls = LastCalls()
        self._seq = 0
        self._is_compacted = False
        self._compacted_before: tuple[str, int] | None = None
        """The run and the number of its turn at the last compaction."""
        self._failed_in: str | None = None
        self._wanted: list[CompactionWanted] = []
        """Compactions requested since the last one, the oldest first."""
        self._compacts_alone: str | None = None
        """The run that began for a compaction alone."""

    def apply(self, event: Event, output: str | None = None) -> None:
        """Add the next event. `output` is the text stored beside it, if the preview of a result is not the whole."""
        self._apply_to_progress(event)
        self._seq = event.seq or self._seq
        self._mode.apply(event.payload)
        self._plan.apply(event.payload)
        match event.payload:
            case MessageUser() as message:
                seq = event.seq or 0
                self.seen_seq = max(self.seen_seq, seq)
                text = message_of(message, self._fired)
                self._unread.append((seq, UserTurn(text=text, attachments=tuple(message.attachments))))
                self._said[seq] = message.message_id
                if attached := attached_to(message):
                    self._attached[seq] = attached
                self._last_calls.forget()
                if self.first_message is None:
                    self.first_message = message.text
            case MessageWithdrawn(at_seq=at_seq):
                self._unread = [one for one in self._unread if one[0] != at_seq]
                self._said.pop(at_seq, None)
                self._attached.pop(at_seq, None)
            case AttachmentRead() as read:
                self._apply_attachment(event.seq or 0, read)
            case ScheduleFired() as fired:
                self._fired = fired
            case SubagentStarted() as started:
                self.seen_seq, self.started = event.seq or 0, started
                self._unread.append((self.seen_seq, UserTurn(text=started.task)))
            case TeammateUpdated(prompt=str(prompt)):
                self._append_turn(event.seq or 0, UserTurn(text=prompt))
            case TeamMessage() as message:
                self._append_turn(event.seq or 0, NoteTurn(text=message_text(message)))
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
                self._closed = left_at_opening(self._closed, self._results[: opened.replaced])
                self._opened, self._opened_at, self._is_compacted = opened, len(self._closed), False
            case ContextCompacted(kind="auto" | "manual") as compacted:
                self._compact(event.run_id, compacted)
            case CompactionWanted() as wanted:
                self._wanted.append(wanted)
                self._failed_in = None
            case Notice(code=code) if code == COMPACTION_FAILED:
                self._failed_in, self._wanted = event.run_id, []
            case SessionUpdated(options=dict() as options):
                self._options = options
            case RunQueued(cause="compact"):
                self._compacts_alone = event.run_id
            case ContextNote() as note:
                self._notes.append(NoteTurn(text=note.text))
                self._known[note.key] = note.text
                if note.kind == "tools" and (note.about, "") not in self.loaded:
                    self.loaded.append((note.about, ""))
                if note.kind == "tasks":
                    self._task_edits = [one for one in self._task_edits if one.version > int(note.about)]
            case TodosUpdated(todos=todos):
                self.todos = todos
            case TasksUpdated() as tasks:
                if tasks.by == "person":
                    lines = describe_edit(self.tasks.tasks, tasks.tasks)
                    self._task_edits.append(TaskEdit(version=tasks.version, lines=lines))
                self.tasks = max(self.tasks, tasks, key=lambda told: told.version)
            case InstructionsFound() as found:
                remember(found, self._instructions)
            case BackgroundStarted(background_id=background_id) as started:
                # A short command may have ended before its call had a result.
                if background_id in self._background_over:
                    self._background_over.discard(background_id)
                else:
                    self._background[background_id] = started
            case BackgroundFinished() as finished:
                self._apply_background(event.seq or 0, finished, output)
            case ControlTaken(holder=holder):
                self._driver = holder
            case ControlReturned() as returned:
                self._apply_return(event.seq or 0, returned)
            case UsageUpdated() as used:
                self._context_tokens = used.context
            case RunFinished() | PathSelected():
                self._close_step()
                self._last_calls.forget()
                for kind in NOTES_OF_A_RUN:
                    self._known.pop(kind, None)
            case _:
                pass

    def apply_beside(self, event: Event) -> None:
        """Add the next event, which is not on the path: its changes hold, but the model does not read of it."""
        self._seq = event.seq or self._seq
        match event.payload:
            case SessionUpdated(options=dict() as options):
                self._options = options
                self._mode.apply(event.payload)
            case BackgroundStarted(background_id=background_id) as started:
                self._background[background_id] = started
            case BackgroundFinished(background_id=background_id):
                self._background.pop(background_id, None)
            case ControlTaken(holder=holder):
                self._driver = holder
            case ControlReturned():
                self._driver = None
            case _:
                pass

    @property
    def chosen(self) -> SessionChoices:
        """The same as in `Conversation`."""
        return SessionChoices(mode=self._mode.mode, options=self._options, driver=self._driver)

    @property
    def read_seq(self) -> int:
        """The number of the last message that the model had read at its last answer."""
        return self._last_step.read_until if self._last_step is not None else 0

    @property
    def has_unread(self) -> bool:
        """Whether the agent has a message that its model has not read."""
        read = self._step.read_until if self._step is not None else 0
        return any(seq > read for seq, _ in self._unread)

    def last_unread(self, *, but: str | None) -> int:
        """The number of the person's last message that the model has not read, 0 for none; the message with the id
        `but` does not count."""
        read = self._step.read_until if self._step is not None else 0
        return max((seq for seq, said in self._said.items() if seq > read and said != but), default=0)

    def progress(self, run_id: str) -> RunProgress:
        """The progress of the current run; empty for any other one."""
        known = self._progress
        return known if known is not None and known.run_id == run_id else RunProgress(run_id)

    def conversation(self, run_id: str, *, turns_of_others: int = 0, others_at_work: int = 0) -> Conversation:
        """The conversation for the model's next call in this run, with the numbers of other agents' turns and answers
        under way."""
        last, progress = self._last_step, self.progress(run_id)
        said: list[Turn] = []
        unread: Sequence[tuple[int, UserTurn | NoteTurn]] = self._unread
        if self._step is not None:
            read, unread = _split(self._unread, self._step.read_until)
            said = [*read, *self._step.turns()]
        closed = len(self._closed)
        results = results_at(said, closed, self._results)
        shown = _with_pictures([*said, *(turn for _, turn in unread)], closed)
        if last is not None and last.run_id == run_id:
            is_whole = last.is_answer
        else:
            # A run that began for a compaction has nothing to answer, unless a message arrives.
            is_whole = self._compacts_alone is not None and self._compacts_alone == run_id and not self._wanted
        return Conversation(
            turns=[*self._closed, *said, *(turn for _, turn in unread), *self._notes],
            seen_seq=self.seen_seq,
            next_turn=progress.last_turn + 1,
            is_answered=is_whole and not unread,
            usage=progress.usage,
            continuations=progress.continuations,
            turns_of_others=turns_of_others,
            others_at_work=others_at_work,
            opened=self._opened,
            opened_at=self._opened_at,
            notes={**self._known},
            pictures=[*self._pictures, *shown],
            results=[*self._results, *results],
            chosen=self.chosen,
            context_tokens=self._context_tokens,
            last_calls=self._last_calls.all(),
            worked=progress.worked,
            last_at=progress.last_at,
            closed_turns=len(self._closed),
            through_seq=self._step.first_seq - 1 if self._step is not None else self._seq,
            is_compacted=self._is_compacted,
            is_just_compacted=self._compacted_before == (run_id, progress.last_turn + 1),
            has_compaction_failed=self._failed_in == run_id,
            compaction_wanted=_merge_requests(self._wanted),
            plan=self._plan.known(),
            todos=self.todos,
            tasks=self.tasks.tasks,
            task_edits=[*self._task_edits],
            instructions={**self._instructions},
            skills_read=[*self.skills_read],
            loaded=[*self.loaded],
            rendered=self._rendered,
            background=[*self._background.values()],
            attached=[self._attached[seq] for seq, _ in unread if seq in self._attached],
        )

    def apply_of_another(self, event: Event) -> None:
        """Count the next event of a sub-agent of this one, whose text is not part of this conversation."""
        if self._progress is not None and self._progress.run_id == event.run_id:
            self._progress.apply_of_another(event)

    def _apply_to_progress(self, event: Event) -> None:
        """A session has one run at a time, so the first event of another run replaces the last one's progress."""
        if event.run_id is None:
            return
        if self._progress is None or self._progress.run_id != event.run_id:
            self._progress = RunProgress(event.run_id)
        self._progress.apply(event)

    def _open(self, event: Event, turn: int) -> Step:
        step = self._step
        if step is None or step.run_id != event.run_id or step.turn != turn:
            self._close_step()
            step = Step(run_id=event.run_id, turn=turn, first_seq=event.seq or 0, notes=self._notes)
            self._step = self._last_step = step
            self._notes = []
        return step

    def _apply_result(self, seq: int | None, finished: ToolFinished, output: str | None) -> None:
        step = self._step
        if step is None or finished.call_id not in step.calls:
            return
        if (loaded := loaded_by(step.calls[finished.call_id], finished)) and loaded not in self.loaded:
            self.loaded.append(loaded)
        if (skill := read_by(step.calls[finished.call_id], finished)) and skill not in self.skills_read:
            self.skills_read.append(skill)
        step.results[finished.call_id] = ToolTurn(
            call_id=finished.call_id,
            name=step.calls[finished.call_id].name,
            output=shorten(finished.preview if output is None else output, MAX_RESULT_CHARACTERS),
            success=finished.success,
            pictures=_pictures_of(seq, finished.body),
            seq=seq or 0,
        )
        self._last_calls.add(step.calls[finished.call_id], step.results[finished.call_id], finished.body)

    def _apply_background(self, seq: int, finished: BackgroundFinished, output: str | None) -> None:
        """Add the end of a background command like a message, unless a call has returned it already."""
        if self._background.pop(finished.background_id, None) is None:
            self._background_over.add(finished.background_id)
        if finished.read_by is None:
            read = shorten(finished.preview if output is None else output, MAX_RESULT_CHARACTERS)
            self._append_turn(seq, NoteTurn(text=describe_finished(finished, read)))

    def _apply_return(self, seq: int, returned: ControlReturned) -> None:
        """Add the note of the person's return of the computer like a message."""
        self._driver = None
        text = RETURNED_WITH_NOTE.format(note=returned.note) if returned.note else RETURNED
        self._append_turn(seq, NoteTurn(text=text))

    def _apply_attachment(self, seq: int, read: AttachmentRead) -> None:
        for at, attached in [*self._attached.items()]:
            if attached.message_id == read.message_id and (left := attached.without(read.paths)) is not None:
                self._attached[at] = left
            elif attached.message_id == read.message_id:
                del self._attached[at]
        if read.text:
            self._append_turn(seq, NoteTurn(text=read.text, pictures=_pictures_of(seq, read.body)))

    def _append_turn(self, seq: int, turn: UserTurn | NoteTurn) -> None:
        self.seen_seq = max(self.seen_seq, seq)
        self._unread.append((seq, turn))

    def _compact(self, run_id: str | None, compacted: ContextCompacted) -> None:
        """The step that led to the compaction stays whole, and with it the person's last message."""
        transcript = WHOLE.format(path=compacted.transcript) if compacted.transcript else ""
        summary = NoteTurn(text=SUMMARY.format(summary=compacted.summary, transcript=transcript))
        last = next((turn for turn in reversed(self._closed) if isinstance(turn, UserTurn)), None)
        self._closed = [summary, *([last] if last is not None else [])]
        self._pictures, self._results, self._context_tokens = [], [], 0
        self._rendered = RenderedTurns()
        # The other notes are gone with the turns that held them, and are added again.
        self._known = {kind: text for kind, text in self._known.items() if kind in NOTES_OF_A_RUN}
        if self._opened is not None:
            self._opened = replace(self._opened, pictures=0, replaced=0)
        self._opened_at, self._is_compacted = 0, True
        if compacted.kind == "manual":
            # Requests made while this summary was written, with a further focus, are handled next.
            number = len(self._wanted)
            told = (at for at in range(number, 0, -1) if _focus_of(self._wanted[:at]) == compacted.focus)
            self._wanted = self._wanted[next(told, number) :]
        turn = self._progress.last_turn + 1 if self._progress is not None else 1
        self._compacted_before = (run_id or "", turn)

    def _close_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            read, self._unread = _split(self._unread, step.read_until)
            self._attached = {seq: one for seq, one in self._attached.items() if seq > step.read_until}
            self._said = {seq: one for seq, one in self._said.items() if seq > step.read_until}
            said = [*read, *step.turns()]
            self._pictures += _with_pictures(said, len(self._closed))
            self._results += results_at(said, len(self._closed), self._results)
            self._closed += said


def _merge_requests(wanted: Sequence[CompactionWanted]) -> CompactionWanted | None:
    """One request for all, with the focus of each."""
    return replace(wanted[-1], focus=_focus_of(wanted)) if wanted else None


def _focus_of(wanted: Sequence[CompactionWanted]) -> str | None:
    return "\n".join(dict.fromkeys(one.focus for one in wanted if one.focus)) or None


def _pictures_of(seq: int | None, body: BodyReference | None) -> tuple[Picture, ...]:
    if seq is None or body is None:
        return ()
    if body.parts:
        return tuple(
            Picture(seq=seq, media_type=part.media_type, size=part.size, offset=part.offset)
            for part in body.parts
            if part.media_type in PICTURE_TYPES
        )
    if body.media_type not in PICTURE_TYPES:
        return ()
    return (Picture(seq=seq, media_type=body.media_type, size=body.size),)


def _with_pictures(turns: Sequence[Turn], begin: int) -> list[int]:
    """The indices of turns with pictures; the first turn has the index `begin`."""
    return [begin + index for index, turn in enumerate(turns) if pictures_in(turn)]


def _split(
    unread: Sequence[tuple[int, UserTurn | NoteTurn]], read_until: int
) -> tuple[list[UserTurn | NoteTurn], list[tuple[int, UserTurn | NoteTurn]]]:
    """The messages up to an event's number, and those after it."""
    return [turn for seq, turn in unread if seq <= read_until], [one for one in unread if one[0] > read_until]
