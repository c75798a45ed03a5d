"""The chat completions of OpenAI and of compatible servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic_core import to_json

from backend_api.agent.events import Usage
from backend_api.agent.model import (
    FinishPart,
    FinishReason,
    ModelAnswerError,
    ModelRequest,
    Part,
    TextPart,
    ThinkingPart,
    UsagePart,
)
from backend_api.models.openai.chat_calls import ChatCalls
from backend_api.models.openai.chat_content import ContentParts
from backend_api.models.openai.chat_messages import messages_of
from backend_api.models.openai.chat_whole_messages import WholeMessages
from backend_api.models.openai.client import OpenAiClient, openai_fault
from backend_api.models.openai.reasoning_details import LISTS, REASONING, ReasoningDetails
from backend_api.models.wire.bounds import tokens
from backend_api.models.wire.endings import broken_off, ending_of, is_ending, nothing_sent, without_reason
from backend_api.models.wire.endpoint import ProviderApi
from backend_api.models.wire.extra_fields import Json, extra_part, merge, text_of
from backend_api.models.wire.faults import as_object, is_fault
from backend_api.models.wire.provider_stream import cut
from backend_api.models.wire.thinking import openai_fields
from backend_api.models.wire.turns import body_of

_PLAIN = frozenset({"role", "content"})
_KNOWN = _PLAIN | {"tool_calls", "function_call", "refusal", "audio", "metadata", *REASONING, *LISTS}


class OpenAiChatModel(OpenAiClient):
    """`ChatModel` over chat completions."""

    PATH = "/chat/completions"

    def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        return self._ask(_body(request, is_official=self.is_official), _State(self.api, request.model))


@dataclass(slots=True)
class _State:
    """The state of one stream. Providers differ in every detail of calls, usage and endings."""

    api: ProviderApi
    model: str
    calls: ChatCalls = field(init=False)
    content: ContentParts = field(init=False)
    reason: FinishReason | None = None
    broken: ModelAnswerError | None = None
    is_refused: bool = False
    is_over: bool = False
    """Always False: usage follows the last choice, and the end marker follows that."""
    is_empty: bool = True
    """Whether no part of an answer has arrived yet."""
    messages: WholeMessages | None = None
    """Set if whole messages come instead of deltas."""
    is_thinking_shown: bool = False
    details: dict[str, ReasoningDetails] = field(default_factory=dict[str, ReasoningDetails])
    added: Json = field(default_factory=dict[str, Any])
    """Unknown fields of the message itself."""

    def __post_init__(self) -> None:
        self.calls, self.content = ChatCalls(self.api.name, self.model), ContentParts(self.model)

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        groq = as_object(event.get("x_groq"))
        if error := event.get("error") or groq.get("error"):
            raise openai_fault(error, self.api)
        parts: list[Part] = []
        usage = as_object(event.get("usage")) or as_object(groq.get("usage"))
        if choices := event.get("choices"):
            choice: dict[str, Any] = choices[0] or {}
            delta: dict[str, Any] = choice.get("delta") or {}
            if delta:
                parts = self._read_delta(delta)
            elif message := choice.get("message"):
                parts = self._read_whole_message(message)
            if is_ending(word := choice.get("finish_reason")):
                self._finish(word, choice)
            usage = usage or as_object(choice.get("usage"))
            if len(choices) > 1:
                self._take_calls_beside(choices[1:])
        elif event.get("object") == "error" or (self.is_empty and not usage):
            self._look_for_fault(event)
        if usage:
            parts.append(UsagePart(_usage(usage)))
        return parts

    def events_of(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """A whole answer is read like an event, though it names its message differently."""
        return [answer] if answer.get("choices") else []

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """The calls and the finish. A stream without its end marker was cut, and one without a reason is incomplete."""
        if self.broken is not None:
            raise self.broken
        if self.reason is None:
            if not is_done:
                raise cut(self.api.name)
            raise nothing_sent(self.api.name) if self.is_empty else without_reason(self.api.name)
        calls = self.calls.parts()
        reason = self.reason
        if self.is_refused:
            reason = "refusal"
        elif calls and reason == "stop":
            reason = "tool_calls"
        added = [extra_part("chat", self.model, message=self.added)] if self.added else []
        return [*self._end_thinking(), *added, *calls, FinishPart(reason)]

    def _read_whole_message(self, message: dict[str, Any]) -> list[Part]:
        """Reads a message that comes instead of a delta; one that follows deltas only repeats them."""
        if self.messages is None and not self.is_empty:
            return []
        self.messages = self.messages or WholeMessages()
        return self._read_delta(self.messages.changes(message))

    def _read_delta(self, delta: dict[str, Any]) -> list[Part]:
        text = delta.get("content")
        if isinstance(text, str) and delta.keys() <= _PLAIN:
            if not text:
                return []
            self.is_empty = False
            return [*self._end_thinking(), TextPart(text)] if self.details or self.content.is_open else [TextPart(text)]
        parts = self._thinking(delta)
        if text:
            parts += [*self._details(), *self._text(text)]
        if refusal := text_of(delta.get("refusal")):
            self.is_refused = True
            parts.append(TextPart(refusal))
        is_called = self._take_calls(delta)
        self.is_empty = self.is_empty and not parts and not is_called
        if not delta.keys() <= _KNOWN:
            merge(self.added, {name: value for name, value in delta.items() if _is_returned(name, value)})
        return parts

    def _take_calls(self, delta: dict[str, Any]) -> bool:
        """Collects the calls, and returns whether there are any."""
        given: object = delta.get("tool_calls") or []
        calls = cast("list[object]", [given] if isinstance(given, dict) else given)
        for call in calls:
            self.calls.add(call)
        function = delta.get("function_call")
        if function:
            self.calls.add({"function": function})
        return bool(calls or function)

    def _take_calls_beside(self, choices: list[dict[str, Any]]) -> None:
        """Collects the calls of further choices. They are not alternative answers, since none are requested: Copilot
        sends Claude's text in the first choice and its calls in the second."""
        for choice in map(as_object, choices):
            delta = as_object(choice.get("delta") or choice.get("message"))
            if self._take_calls(delta):
                self.is_empty = False
            if is_ending(word := choice.get("finish_reason")) and self.reason is None:
                self._finish(word, choice)

    def _text(self, content: object) -> list[Part]:
        if isinstance(content, str):
            return [*self.content.closing(), TextPart(content)]
        return self.content.parts(content)

    def _thinking(self, delta: dict[str, Any]) -> list[Part]:
        text = next((text for name in REASONING if (text := text_of(delta.get(name)))), "")
        for name in LISTS:
            if pieces := delta.get(name):
                self.details.setdefault(name, ReasoningDetails(name)).add(pieces)
        self.is_thinking_shown = self.is_thinking_shown or bool(text)
        return [ThinkingPart(text)] if text else []

    def _details(self) -> list[Part]:
        is_shown = self.is_thinking_shown
        return [part for kept in self.details.values() for part in kept.parts(is_shown=is_shown)]

    def _end_thinking(self) -> list[Part]:
        """The data to be sent back of the thinking that ends here."""
        return [*self._details(), *self.content.closing()]

    def _finish(self, word: object, choice: dict[str, Any]) -> None:
        reason = ending_of(word)
        if reason is None and self.broken is None:
            self.broken = broken_off(self.api.name, word, choice.get("native_finish_reason"), choice.get("error"))
        self.reason = reason

    def _look_for_fault(self, event: dict[str, Any]) -> None:
        """Raises for an error that a server sends without calling it one."""
        if is_fault(event):
            raise openai_fault(event, self.api)


def _is_returned(name: str, value: object) -> bool:
    """Whether an unknown field of a message has to be sent back to the provider: strict servers refuse other fields,
    even those they send themselves."""
    return bool(value) and name not in _KNOWN and (isinstance(value, dict) or "signature" in name or "thought" in name)


def _usage(usage: dict[str, Any]) -> Usage:
    read = as_object(usage.get("prompt_tokens_details"))
    written = as_object(usage.get("completion_tokens_details"))
    return Usage(
        input=tokens(usage.get("prompt_tokens")),
        cached=tokens(read.get("cached_tokens") or usage.get("prompt_cache_hit_tokens")),
        output=tokens(usage.get("completion_tokens")),
        thinking=tokens(written.get("reasoning_tokens")),
        cache_write=tokens(read.get("cache_write_tokens")),
    )


def _body(request: ModelRequest, *, is_official: bool) -> bytes:
    body: dict[str, Any] = {
        "model": request.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens" if is_official else "max_tokens": request.max_output_tokens,
        **openai_fields(request.model, request.thinking, is_official=is_official, has_tools=bool(request.tools)),
    }
    system = to_json({"role": "system", "content": request.system})
    # Serialised once per tool: tens of kilobytes that never change.
    tools = [f'{{"type":"function","function":{tool.offer}}}' for tool in request.tools]
    return body_of(body, "messages", [system, *messages_of(request)], tools)
