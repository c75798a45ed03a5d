"""OpenAI's responses, asked without a state of theirs: each request has the whole conversation, and what the model
reasoned goes back encrypted, as it came.

Source: OpenAI's reference of responses and their streaming events, and its guide on reasoning without storage.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

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
from backend_api.infrastructure.llm.endpoint import ProviderApi
from backend_api.infrastructure.llm.faults import as_object
from backend_api.infrastructure.llm.openai_client import OpenAiClient, openai_fault
from backend_api.infrastructure.llm.openai_computer import ComputerForm, calls_of, declared, form_of
from backend_api.infrastructure.llm.responses_input import items_of
from backend_api.infrastructure.llm.surrogates import json_of
from backend_api.infrastructure.llm.thinking import responses_fields
from backend_api.infrastructure.llm.tool_calls import PartialCall, arguments_of, call_part, given_arguments
from backend_api.infrastructure.llm.turns import body_of
from backend_api.infrastructure.llm.wire import cut

MIN_OUTPUT_TOKENS = 16
"""Fewer are refused."""
INCOMPLETE: dict[str, FinishReason] = {"content_filter": "refusal", "steered": "stop", "max_messages": "stop"}
"""Why an answer is not whole; any other reason, and none, is its length."""


class OpenAiResponsesModel(OpenAiClient):
    """`ChatModel` over OpenAI's responses."""

    PATH = "/responses"

    def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        body = _body(request, form_of(request, self.facts(request.model)), is_official=self.is_official)
        return self._ask(body, _State(self.api))


@dataclass(slots=True)
class _State:
    """What a stream has said so far: `calls` are those that are not whole yet, by their place in the output."""

    api: ProviderApi
    calls: dict[int, PartialCall] = field(default_factory=dict[int, PartialCall])
    has_called: bool = False
    is_refused: bool = False
    reason: FinishReason | None = None

    @property
    def is_over(self) -> bool:
        return self.reason is not None

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """The ending. A stream without its last event was cut, whether it `is_done` or not."""
        if self.reason is None:
            raise cut(self.api.name)
        return [FinishPart(self.reason)]

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        match event.get("type"):
            case "response.output_text.delta":
                return [TextPart(str(event.get("delta") or ""))]
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return [ThinkingPart(str(event.get("delta") or ""))]
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                return [ThinkingPart("\n\n")]
            case "response.function_call_arguments.delta":
                if call := self.calls.get(event.get("output_index") or 0):
                    call.pieces.append(str(event.get("delta") or ""))
                return []
            case "response.output_item.added":
                return self._begin(event)
            case "response.output_item.done":
                return self._end(event)
            case "response.refusal.delta":
                self.is_refused = True
                return [TextPart(str(event.get("delta") or ""))]
            case "response.completed" | "response.incomplete":
                return self._finish(as_object(event.get("response")), is_whole=event["type"] == "response.completed")
            case "response.failed":
                error = as_object(event.get("response")).get("error")
                raise openai_fault(error, self.api)
            case "error":
                error = event.get("error") or {**event, "type": ""}
                raise openai_fault(error, self.api)
            case _:
                return []

    def _begin(self, event: dict[str, Any]) -> list[Part]:
        item = as_object(event.get("item"))
        if item.get("type") == "function_call":
            if len(self.calls) > MOST_CALLS:
                raise too_many_calls(self.api.name)
            call = PartialCall(id=item.get("call_id") or "", name=item.get("name") or "")
            self.calls[event.get("output_index") or 0] = call
        return []

    def _end(self, event: dict[str, Any]) -> list[Part]:
        item = as_object(event.get("item"))
        match item.get("type"):
            case "reasoning" if item.get("encrypted_content"):
                kept = {name: value for name, value in item.items() if value is not None}
                return [ThinkingPart("", opaque=json_of(kept).decode())]
            case "function_call":
                call = self.calls.pop(event.get("output_index") or 0, PartialCall())
                call.id, call.name = item.get("call_id") or call.id, item.get("name") or call.name
                return [self._called(call, item.get("arguments"))]
            case "computer_call":
                self.has_called = True
                return [*calls_of(item, provider=self.api.name)]
            case _:
                return []

    def _called(self, call: PartialCall, given: object = None) -> Part:
        """`given` is what the call says of its arguments once it is whole; else they are what came of them."""
        self.has_called = True
        raw = given if isinstance(given, str) else given_arguments(given) if given else ""
        raw = raw or call.raw
        return call_part(call.id, call.name, raw, arguments_of(raw))

    def _finish(self, response: dict[str, Any], *, is_whole: bool) -> list[Part]:
        parts: list[Part] = [self._called(call) for _, call in sorted(self.calls.items())]
        self.calls.clear()
        if usage := as_object(response.get("usage")):
            parts.append(UsagePart(_usage(usage)))
        if not is_whole:
            why = as_object(response.get("incomplete_details")).get("reason")
            self.reason = INCOMPLETE.get(str(why), "length")
        else:
            self.reason = "tool_calls" if self.has_called else "stop"
        if self.is_refused:
            self.reason = "refusal"
        return parts


def _usage(usage: dict[str, Any]) -> Usage:
    read = as_object(usage.get("input_tokens_details"))
    written = as_object(usage.get("output_tokens_details"))
    return Usage(
        input=tokens(usage.get("input_tokens")),
        cached=tokens(read.get("cached_tokens")),
        output=tokens(usage.get("output_tokens")),
        thinking=tokens(written.get("reasoning_tokens")),
    )


def _body(request: ModelRequest, computer: ComputerForm | None, *, is_official: bool) -> bytes:
    body: dict[str, Any] = {
        "model": request.model,
        "instructions": request.system,
        "stream": True,
        "store": False,
        "max_output_tokens": max(request.max_output_tokens, MIN_OUTPUT_TOKENS),
        **responses_fields(request.model, request.thinking, is_official=is_official),
    }
    if request.tools:
        body["tools"] = declared(request.tools, computer)
    if computer == "computer_use_preview":
        # It is refused otherwise.
        body["truncation"] = "auto"
    return body_of(body, "input", items_of(request, computer))
