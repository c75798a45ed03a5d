"""Chat completions of OpenAI and of everything that speaks its protocol."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from backend_api.domain.agent.events import Usage
from backend_api.domain.agent.model import (
    FinishPart,
    FinishReason,
    ModelRequest,
    Part,
    TextPart,
    ThinkingPart,
    UsagePart,
)
from backend_api.infrastructure.llm.bounds import MOST_CALLS, tokens, too_many_calls
from backend_api.infrastructure.llm.chat_messages import messages_of
from backend_api.infrastructure.llm.endpoint import ProviderApi
from backend_api.infrastructure.llm.faults import as_object
from backend_api.infrastructure.llm.openai_client import OpenAiClient, openai_fault
from backend_api.infrastructure.llm.reasoning_details import ReasoningDetails
from backend_api.infrastructure.llm.thinking import openai_fields
from backend_api.infrastructure.llm.tool_calls import PartialCall, arguments_of, call_part, given_arguments
from backend_api.infrastructure.llm.turns import body_of
from backend_api.infrastructure.llm.wire import cut

REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
}


class OpenAiChatModel(OpenAiClient):
    """`ChatModel` over chat completions."""

    PATH = "/chat/completions"

    def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        return self._ask(_body(request, is_official=self.is_official), _State(self.api))


@dataclass(slots=True)
class _State:
    """What a stream has said so far. Providers differ in every detail of calls, usage and endings."""

    api: ProviderApi
    calls: list[PartialCall] = field(default_factory=list[PartialCall])
    by_index: dict[int, PartialCall] = field(default_factory=dict[int, PartialCall])
    reason: FinishReason | None = None
    is_refused: bool = False
    is_over: bool = False
    """Never: usage follows the last choice, and the mark of the end follows that."""
    details: ReasoningDetails = field(default_factory=ReasoningDetails)

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        if error := event.get("error"):
            raise openai_fault(error, self.api)
        parts: list[Part] = []
        if choices := event.get("choices"):
            choice: dict[str, Any] = choices[0]
            delta: dict[str, Any] = choice.get("delta") or choice.get("message") or {}
            if thinking := delta.get("reasoning_content") or delta.get("reasoning"):
                parts.append(ThinkingPart(str(thinking)))
            if details := delta.get("reasoning_details"):
                self.details.add(details)
            if text := delta.get("content"):
                parts += [*self.details.parts(), TextPart(str(text))]
            if refusal := delta.get("refusal"):
                self.is_refused = True
                parts.append(TextPart(str(refusal)))
            for call in delta.get("tool_calls") or ():
                self._take_call(call)
            if reason := choice.get("finish_reason"):
                self.reason = REASONS.get(str(reason), "stop")
        if usage := as_object(event.get("usage")):
            parts.append(UsagePart(_usage(usage)))
        return parts

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """Calls and ending. A stream without either of its closing marks was cut."""
        if self.reason is None and not is_done:
            raise cut(self.api.name)
        calls = [
            call_part(call.id, call.name, raw, arguments_of(raw))
            for call in self.calls
            if (raw := call.raw) or call.name
        ]
        reason = self.reason or "stop"
        if self.is_refused:
            reason = "refusal"
        elif calls and reason == "stop":
            reason = "tool_calls"
        return [*self.details.parts(), *calls, FinishPart(reason)]

    def _take_call(self, delta: dict[str, Any]) -> None:
        function: dict[str, Any] = delta.get("function") or {}
        identifier: str = delta.get("id") or ""
        name: str = function.get("name") or ""
        index = delta.get("index")
        call = self.by_index.get(index) if index is not None else (self.calls[-1] if self.calls else None)
        is_other = call is not None and bool(name and call.name) and (identifier != call.id or index is None)
        if call is None or is_other:
            if len(self.calls) > MOST_CALLS:
                # They are told at the end of the answer, and until then there could be any number.
                raise too_many_calls(self.api.name)
            call = PartialCall()
            self.calls.append(call)
            if index is not None:
                self.by_index[index] = call
        call.id = call.id or identifier
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.pieces.append(arguments)
        elif arguments is not None:
            call.pieces.append(given_arguments(arguments))


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
    # Some tens of kilobytes, which are the same each time.
    tools = [f'{{"type":"function","function":{tool.offer}}}' for tool in request.tools]
    return body_of(body, "messages", [system, *messages_of(request)], tools)
