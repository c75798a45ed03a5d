"""One step of an agent: a model call with its results, as the conversation holds it."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend_api.agent.events import Continuation, ThinkingCompleted, ToolCalled
from backend_api.agent.model import AssistantTurn, NoteTurn, Thinking, ToolTurn, Turn
from backend_api.agent.use_tool_calls import as_requested

NO_RESULT = (
    "No result was recorded: the call was interrupted. It may have happened, in whole or in part; check before "
    "repeating it."
)


@dataclass(slots=True)
class Step:
    """One model call: the notes before it, its answer, its calls and their results."""

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
        """The number of the last event the model can have read; old logs lack it for steps with thinking alone."""
        return self.seen_seq or (self.first_seq if self.has_said or self.calls else 0)

    @property
    def is_answer(self) -> bool:
        """Whether it is a complete answer without calls."""
        return self.has_said and not self.is_partial and not self.calls

    def turns(self) -> list[Turn]:
        """The turns it adds to the conversation."""
        said: list[Turn] = [*self.notes]
        text, begin = "".join(self.texts), 0
        for index, continuation in enumerate(self.continuations):
            if piece := text[begin : continuation.at]:
                said.append(AssistantTurn(text=piece, thinking=self._thinking(index, begin)))
            said.append(NoteTurn(text=continuation.note))
            begin = continuation.at
        calls = tuple(as_requested(called) for called in self.calls.values())
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
