"""The recorded stream of a session, folded into the conversation a model reads. Pure: same events, same turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from backend_api.domain.agent.events import (
    Event,
    MessageCompleted,
    MessageUser,
    RunFinished,
    RunStarted,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.domain.agent.model import AssistantTurn, Thinking, ToolRequest, ToolTurn, Turn, UserTurn

MAX_RESULT_CHARACTERS = 16_000
NO_RESULT = (
    "No result was recorded: the call was interrupted. It may have happened, in whole or in part; check before "
    "repeating it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What the model reads next. `seen_seq` is the last user message in it, `next_turn` the number of the run's next
    model call, `is_answered` whether the run's last step already is a whole answer to all of it, `usage` what the run
    used so far."""

    turns: list[Turn]
    seen_seq: int
    next_turn: int
    is_answered: bool
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class _Step:
    """One model call: what it said, what it asked for and what came back."""

    run_id: str | None
    turn: int
    first_seq: int
    texts: list[str] = field(default_factory=list[str])
    thinking: list[Thinking] = field(default_factory=list[Thinking])
    calls: dict[str, ToolCalled] = field(default_factory=dict[str, ToolCalled])
    results: dict[str, ToolTurn] = field(default_factory=dict[str, ToolTurn])
    seen_seq: int = 0
    is_partial: bool = False

    @property
    def read_until(self) -> int:
        """Number of the last event the model can have read."""
        return self.seen_seq or self.first_seq


def fold(events: Iterable[Event], outputs: Mapping[str, str], *, run_id: str | None = None) -> Conversation:
    """Turns for the model. `outputs` maps a call to its whole output where that is longer than the preview.

    A call without a result gets one that says so, as providers refuse a conversation that lacks one. A user message
    the model had not read when it spoke comes after what it said.
    """
    folder = _Folder(outputs)
    last_turn = 0
    usage = Usage()
    for event in events:
        folder.take(event)
        if run_id is not None and event.run_id == run_id:
            last_turn = max(last_turn, getattr(event.payload, "turn", 0))
            if isinstance(event.payload, UsageUpdated):
                usage = event.payload.usage
    last = folder.last_step
    turns = folder.close()
    is_whole = last is not None and last.run_id == run_id and not last.is_partial and not last.calls
    return Conversation(
        turns=turns,
        seen_seq=folder.seen_seq,
        next_turn=last_turn + 1,
        is_answered=is_whole and not folder.has_unread,
        usage=usage,
    )


def dangling_calls(events: Iterable[Event], run_id: str) -> list[ToolCalled]:
    """Calls of the run that were recorded as starting and never as ended."""
    calls: dict[str, ToolCalled] = {}
    for event in events:
        if event.run_id != run_id:
            continue
        match event.payload:
            case ToolCalled() as called:
                calls[called.call_id] = called
            case ToolFinished() as finished:
                calls.pop(finished.call_id, None)
            case _:
                pass
    return list(calls.values())


def fruitless_starts(events: Iterable[Event], run_id: str) -> int:
    """How often the run was begun since a tool last gave it a result."""
    starts = 0
    for event in events:
        if event.run_id != run_id:
            continue
        match event.payload:
            case RunStarted():
                starts += 1
            case ToolFinished() as finished if finished.preview != NO_RESULT:
                starts = 0
            case _:
                pass
    return starts


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text over the limit, with a mark that says how much is left out."""
    if len(text) <= limit:
        return text
    mark = f"\n[... {len(text) - limit} characters left out ...]\n"
    keep = max(limit - len(mark), 0)
    head = keep * 2 // 3
    return text[:head] + mark + (text[len(text) - (keep - head) :] if keep > head else "")


class _Folder:
    def __init__(self, outputs: Mapping[str, str]) -> None:
        self._outputs = outputs
        self._turns: list[Turn] = []
        self._unread: list[tuple[int, UserTurn]] = []
        self._step: _Step | None = None
        self.last_step: _Step | None = None
        self.seen_seq = 0
        self.has_unread = False

    def take(self, event: Event) -> None:
        match event.payload:
            case MessageUser() as message:
                seq = event.seq or 0
                self.seen_seq = max(self.seen_seq, seq)
                self._unread.append((seq, UserTurn(text=message.text, attachments=tuple(message.attachments))))
            case MessageCompleted() as message:
                step = self._open(event, message.turn)
                if message.text:
                    step.texts.append(message.text)
                step.seen_seq = max(step.seen_seq, message.seen_seq)
                step.is_partial = step.is_partial or message.partial
            case ThinkingCompleted() as thinking:
                step = self._open(event, thinking.turn)
                step.thinking.append(Thinking(text=thinking.text, signature=thinking.signature))
            case ToolCalled() as called:
                step = self._open(event, called.turn)
                step.calls[called.call_id] = called
                step.seen_seq = max(step.seen_seq, called.seen_seq)
            case ToolFinished() as finished:
                self._take_result(finished)
            case RunFinished():
                self._close_step()
            case _:
                pass

    def close(self) -> list[Turn]:
        self._close_step()
        self.has_unread = bool(self._unread)
        self._turns.extend(turn for _, turn in self._unread)
        return self._turns

    def _open(self, event: Event, turn: int) -> _Step:
        step = self._step
        if step is None or step.run_id != event.run_id or step.turn != turn:
            self._close_step()
            step = self._step = self.last_step = _Step(run_id=event.run_id, turn=turn, first_seq=event.seq or 0)
        return step

    def _take_result(self, finished: ToolFinished) -> None:
        step = self._step
        if step is None or finished.call_id not in step.calls:
            return
        output = shorten(self._outputs.get(finished.call_id, finished.preview), MAX_RESULT_CHARACTERS)
        step.results[finished.call_id] = ToolTurn(
            call_id=finished.call_id,
            name=step.calls[finished.call_id].name,
            output=output,
            success=finished.success,
        )

    def _close_step(self) -> None:
        step, self._step = self._step, None
        if step is None:
            return
        self._turns.extend(turn for seq, turn in self._unread if seq <= step.read_until)
        self._unread = [(seq, turn) for seq, turn in self._unread if seq > step.read_until]
        text = "".join(step.texts)
        calls = tuple(
            ToolRequest(call_id=called.call_id, name=called.name, arguments=called.arguments)
            for called in step.calls.values()
        )
        if text or calls:
            self._turns.append(AssistantTurn(text=text, thinking=tuple(step.thinking), calls=calls))
        for called in step.calls.values():
            missing = ToolTurn(call_id=called.call_id, name=called.name, output=NO_RESULT, success=False)
            self._turns.append(step.results.get(called.call_id, missing))
