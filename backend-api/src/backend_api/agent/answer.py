"""One turn of the model, gathered from the parts of its stream."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    NO_USAGE,
    Continuation,
    MessageCompleted,
    StoredPayload,
    ThinkingCompleted,
    Usage,
)
from backend_api.agent.journal import LiveOutput
from backend_api.agent.model import (
    AddedPart,
    AssistantTurn,
    FinishPart,
    FinishReason,
    ModelInfo,
    NoteTurn,
    Part,
    TextPart,
    Thinking,
    ThinkingPart,
    ThoughtSoFarPart,
    ToolCallPart,
    ToolRequest,
    Turn,
    UsagePart,
)
from backend_api.agent.options import ThinkingLevel
from backend_api.agent.tool import ToolSpec
from backend_api.agent.usage import add_usage

MAX_OPAQUE_CHARACTERS = 256 * 1024
"""The longest signature or opaque part of a thought that is kept. A longer one is dropped, and so not sent back to the
provider."""
MOST_THOUGHTS = 1_000
"""The most thoughts of one answer, as each is an event of its own. Later ones are neither shown nor kept."""


@dataclass(slots=True)
class _ThinkingText:
    id: str
    offset: int
    continued: int
    texts: list[str] = field(default_factory=list[str])
    signature: str | None = None
    opaque: str | None = None
    since: float = field(default_factory=time.perf_counter)
    duration_ms: int | None = None


@dataclass(slots=True, kw_only=True)
class Answer:
    """Text, thinking and calls of one turn; a turn takes more than one model call when it is continued. If `thinking`
    is off, thoughts that a provider sends all the same are neither shown nor kept."""

    message_id: str
    turn: int
    seen_seq: int
    live: LiveOutput
    new_id: Callable[[str], str]
    thinking: ThinkingLevel | None = None
    tools: Sequence[ToolSpec] = ()
    """The tools that the model was offered."""
    calls: list[ToolRequest] = field(default_factory=list[ToolRequest])
    reason: FinishReason = "stop"
    total: Usage = NO_USAGE
    last_call: Usage = NO_USAGE
    unfinished: str = ""
    """The tool in whose call the last model call was cut."""
    continuations: list[Continuation] = field(default_factory=list[Continuation])
    context_tokens: int = 0
    """Tokens that the last model call of the conversation read and wrote, 0 if not known."""
    _texts: list[str] = field(default_factory=list[str])
    _thoughts: list[_ThinkingText] = field(default_factory=list[_ThinkingText])
    has_begun: bool = False
    """Whether any part of it came, shown or not."""
    _is_thinking: bool = False

    @classmethod
    def to(
        cls,
        conversation: Conversation,
        live: LiveOutput,
        new_id: Callable[[str], str],
        thinking: ThinkingLevel | None,
    ) -> Answer:
        """An empty answer, the next one in a conversation."""
        return cls(
            message_id=new_id("msg"),
            turn=conversation.next_turn,
            seen_seq=conversation.seen_seq,
            live=live,
            new_id=new_id,
            thinking=thinking,
            context_tokens=conversation.context_tokens,
        )

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def last_thought(self) -> str:
        """The text of the last thought."""
        return "".join(self._thoughts[-1].texts) if self._thoughts else ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it has come yet."""
        return not (self._texts or self._thoughts or self.calls or self.continuations)

    def go_on(self, note: str) -> list[Turn]:
        """Continue it with another call; returns the turns that the model reads of it so far."""
        text = self.text
        since = self.continuations[-1].at if self.continuations else 0
        thinking = tuple(
            Thinking(text="".join(one.texts), signature=one.signature, opaque=one.opaque, offset=one.offset - since)
            for one in self._thoughts
            if one.continued == len(self.continuations)
        )
        self.unfinished = ""
        self.continuations.append(Continuation(at=len(text), note=note))
        said = [AssistantTurn(text=text[since:], thinking=thinking)] if text[since:] else []
        return [*said, NoteTurn(text=note)]

    async def read(self, parts: AsyncGenerator[Part, None]) -> None:
        """Add the parts of one model call, and close its stream however this ends. Raises what the stream raises."""
        async with aclosing(parts):
            async for part in parts:
                self._add_part(part)

    def _add_part(self, part: Part) -> None:
        self.has_begun = self.has_begun or not isinstance(part, UsagePart)
        match part:
            case TextPart():
                if part.text:
                    # Checked here, as this runs for each delta and a call costs more than the check.
                    if self._is_thinking:
                        self._finish_thinking()
                    self._texts.append(part.text)
                    self.live.show_text(self.message_id, part.text)
            case ThinkingPart():
                self._add_thinking(part)
            case ToolCallPart():
                self._finish_thinking()
                self.calls.append(part.request)
            case AddedPart():
                self._add_provider_fields(part)
            case ThoughtSoFarPart():
                self._take_as_thinking()
            case UsagePart():
                self.last_call = part.usage
            case FinishPart():
                self.reason = part.reason
                if part.reason == "length" and self.calls:
                    # Cut before its arguments, it looks like a call without any. The calls before it belong to the same
                    # answer, and are requested again.
                    self.unfinished = self.calls[-1].name
                    self.calls.clear()

    def close_call(self, model: ModelInfo) -> None:
        """Count a model call of this turn that has ended, and show how full the model's window is."""
        self.total = add_usage(self.total, self._counted(), model.id)
        self.context_tokens = self.last_call.input + self.last_call.output
        if self.context_tokens:
            self.live.show_context(self.context_tokens, model.context_window)
        self._finish_thinking()
        self.last_call = NO_USAGE

    def cut_call(self, model: ModelInfo) -> Usage:
        """The usage of its model calls, the last of which was cut: as far as the provider reported it."""
        return add_usage(self.total, replace(self._counted(), cost=model.cost_when_cut), model.id)

    def _counted(self) -> Usage:
        """The usage of the last call, with the number of tokens that were new in it."""
        call = self.last_call
        return replace(call, new=max(call.input - self.context_tokens, 0) + call.output)

    def payloads(self) -> list[StoredPayload]:
        """The events to record for this answer, before any call starts."""
        stored: list[StoredPayload] = [
            ThinkingCompleted(
                message_id=thought.id,
                text="".join(thought.texts),
                effort=self.thinking,
                duration_ms=thought.duration_ms,
                turn=self.turn,
                signature=thought.signature,
                opaque=thought.opaque,
                offset=thought.offset,
                continued=thought.continued,
                seen_seq=self.seen_seq,
            )
            for thought in self._thoughts
        ]
        # Notes of continuations are stored with the text, also if only calls followed.
        if self.text or self.continuations or not self.calls:
            stored.append(self.message())
        return stored

    def message(self) -> MessageCompleted:
        """The message with the text so far; a continuation adds to it later."""
        return MessageCompleted(
            message_id=self.message_id,
            text=self.text,
            turn=self.turn,
            seen_seq=self.seen_seq,
            continuations=self.continuations,
        )

    def so_far(self) -> list[StoredPayload]:
        """The events to record if it is cut here: it can't be continued, so of its thinking only the text counts."""
        thoughts = [(one.id, text) for one in self._thoughts if (text := "".join(one.texts))]
        said: list[StoredPayload] = [
            ThinkingCompleted(message_id=identifier, text=text, turn=self.turn, seen_seq=self.seen_seq)
            for identifier, text in thoughts
        ]
        if self.text or self.continuations:
            said.append(replace(self.message(), partial=True))
        return said

    def _add_thinking(self, part: ThinkingPart) -> None:
        if self.thinking == "off":
            return
        if not self._is_thinking:
            if len(self._thoughts) >= MOST_THOUGHTS:
                return
            self._thoughts.append(_ThinkingText(self.new_id("think"), len(self.text), len(self.continuations)))
            self._is_thinking = True
        thought = self._thoughts[-1]
        if part.text:
            thought.texts.append(part.text)
            self.live.show_thinking(thought.id, part.text)
        if part.signature is not None:
            thought.signature = part.signature if len(part.signature) <= MAX_OPAQUE_CHARACTERS else None
        if part.opaque is not None:
            thought.opaque = part.opaque if len(part.opaque) <= MAX_OPAQUE_CHARACTERS else None
        if part.signature is not None or part.opaque is not None:
            self._finish_thinking()

    def _add_provider_fields(self, part: AddedPart) -> None:
        """Keep what the provider added, also if thinking is off: it is stored in the place of a thought."""
        self._finish_thinking()
        if len(self._thoughts) < MOST_THOUGHTS and len(part.opaque) <= MAX_OPAQUE_CHARACTERS:
            added = _ThinkingText(self.new_id("think"), len(self.text), len(self.continuations), opaque=part.opaque)
            self._thoughts.append(added)

    def _take_as_thinking(self) -> None:
        """The text of this call so far becomes a thought."""
        self._finish_thinking()
        text, since = self.text, self.continuations[-1].at if self.continuations else 0
        self._texts = [text[:since]] if since else []
        for one in self._thoughts:
            one.offset = min(one.offset, since)
        thought = _ThinkingText(self.new_id("think"), since, len(self.continuations), [text[since:]])
        is_kept = self.thinking != "off" and len(self._thoughts) < MOST_THOUGHTS
        if is_kept:
            self._thoughts.append(thought)
        self.live.show_as_thinking(self.message_id, thought.id if is_kept else None, text[since:])

    def _finish_thinking(self) -> None:
        if self._is_thinking:
            thought = self._thoughts[-1]
            thought.duration_ms = round((time.perf_counter() - thought.since) * 1000)
            self._is_thinking = False
