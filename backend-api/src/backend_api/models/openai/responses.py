"""OpenAI's Responses API without server-side state: each request has the whole conversation, and the model's reasoning
is sent back encrypted, as it came.

Source: OpenAI's reference of responses and their streaming events, and its guide on reasoning without storage.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

from backend_api.agent.events import Usage
from backend_api.agent.model import (
    FinishPart,
    FinishReason,
    ModelRequest,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from backend_api.models.openai.client import OpenAiClient, openai_fault
from backend_api.models.openai.computer import ComputerForm, calls_of, declared, form_of
from backend_api.models.openai.responses_input import items_of
from backend_api.models.openai.responses_items import (
    OpenCall,
    OpenCalls,
    SeenTexts,
    completed,
    content_text,
    output_of,
    raw_arguments,
)
from backend_api.models.openai.tool_search import declared_search, searched
from backend_api.models.wire.bounds import MOST_CALLS, tokens, too_many_calls
from backend_api.models.wire.endings import broken_off, ending_of
from backend_api.models.wire.endpoint import ProviderApi
from backend_api.models.wire.extra_fields import extra_json, extra_part, fields_beyond, text_of
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.provider_stream import cut
from backend_api.models.wire.surrogates import json_of
from backend_api.models.wire.thinking import responses_fields
from backend_api.models.wire.tool_calls import RepeatedCalls, arguments_of, call_part, is_nothing
from backend_api.models.wire.tool_search import searches
from backend_api.models.wire.turns import body_of

MIN_OUTPUT_TOKENS = 16
"""The least that the API accepts."""
INCOMPLETE: dict[str, FinishReason] = {"steered": "stop", "max_messages": "stop"}
"""Reasons for an incomplete answer, besides those common to all providers; without a reason it is the length."""
_CALL_FIELDS = frozenset({"type", "id", "call_id", "name", "arguments", "status", "parsed_arguments"})
_MESSAGE_FIELDS = frozenset({"type", "id", "role", "status", "content"})


class OpenAiResponsesModel(OpenAiClient):
    """`ChatModel` over OpenAI's Responses API."""

    PATH = "/responses"

    def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        facts = self.facts(request.model)
        computer, may_search = form_of(request, facts), searches(request, facts)
        body = _body(request, computer, may_search=may_search, is_official=self.is_official)
        return self._ask(body, _State(self.api, request.model))


@dataclass(slots=True)
class _State:
    """The state of one stream."""

    api: ProviderApi
    model: str
    calls: OpenCalls = field(init=False)
    """The calls that are not complete yet."""
    waiting: list[ToolCallPart] = field(default_factory=list[ToolCallPart])
    """Calls whose arguments may only arrive at the end, and the calls after them."""
    made: RepeatedCalls = field(default_factory=RepeatedCalls)
    text: SeenTexts = field(default_factory=SeenTexts)
    thinking: SeenTexts = field(default_factory=SeenTexts)
    has_ended: bool = False
    """Whether an item has ended."""
    is_refused: bool = False
    reason: FinishReason | None = None

    def __post_init__(self) -> None:
        self.calls = OpenCalls(self.api.name)

    @property
    def is_over(self) -> bool:
        return self.reason is not None

    def events_of(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of a whole response: the end of each item, and the end."""
        if str(answer.get("type")).startswith("response."):
            return [answer]
        output = answer.get("output")
        if not isinstance(output, list) or answer.get("error"):
            return []
        ended = [
            {"type": "response.output_item.done", "output_index": index, "item": item}
            for index, item in enumerate(output_of(answer))
        ]
        return [*ended, {"type": "response.completed", "response": answer | {"output": []}}]

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """The finish. A stream without its last event was cut, whether it `is_done` or not."""
        if self.reason is None:
            raise cut(self.api.name)
        return [FinishPart(self.reason)]

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        kind = event.get("type")
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                return self._text(event, refused=kind == "response.refusal.delta")
            case "response.output_text.done":
                return _texts(self.text.rest_of_part(event, text_of(event.get("text"))))
            case "response.refusal.done":
                self.is_refused = True
                return _texts(self.text.rest_of_part(event, text_of(event.get("refusal"))))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                text = text_of(event.get("delta"))
                self.thinking.add(event, text)
                return [ThinkingPart(text)]
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                return [ThinkingPart("\n\n")]
            case "response.function_call_arguments.delta" | "response.function_call_arguments.done":
                self._take_arguments(event)
                return []
            case "response.output_item.added":
                self._begin(event)
                return []
            case "response.output_item.done":
                return self._end(event)
            case "response.completed" | "response.incomplete" | "response.cancelled" | "response.done" as kind:
                return self._finish(as_object(event.get("response")), kind.removeprefix("response."))
            case _:
                self._look_for_fault(event)
                return []

    def _look_for_fault(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "response.failed":
                error = as_object(event.get("response")).get("error")
                raise openai_fault(error, self.api)
            case "error" | "response.error":
                error = event.get("error") or {**event, "type": ""}
                raise openai_fault(error, self.api)
            case None if event.get("error"):
                raise openai_fault(event["error"], self.api)
            case _:
                return

    def _text(self, event: dict[str, Any], *, refused: bool) -> list[Part]:
        self.is_refused = self.is_refused or refused
        text = text_of(event.get("delta"))
        self.text.add(event, text)
        return [TextPart(text)]

    def _take_arguments(self, event: dict[str, Any]) -> None:
        call = self.calls.of(event)
        if call is not None:
            call.pieces.append(text_of(event.get("delta")))
            call.whole = raw_arguments(event) or call.whole

    def _begin(self, event: dict[str, Any]) -> None:
        item = as_object(event.get("item"))
        match item.get("type"):
            case "function_call":
                self.calls.begin(event, item)
            case "message":
                self.text.begin(event)
            case "reasoning":
                self.thinking.begin(event)
            case _:
                return

    def _end(self, event: dict[str, Any]) -> list[Part]:
        item = as_object(event.get("item"))
        self.has_ended = self.has_ended or bool(item)
        match item.get("type"):
            case "reasoning":
                return self._thought(event, item)
            case None:
                return []
            case "message":
                return self._read_message(event, item)
            case "function_call":
                return self._called(self.calls.end(event, item), item)
            case "tool_search_call" if item.get("execution") == "client":
                return [*self.made.new([searched(item, self.model)])]
            case "computer_call":
                return [*self.made.new(calls_of(item, provider=self.api.name))]
            case _:
                # From a tool of the provider's own, or of a new kind.
                return [extra_part("responses", self.model, item=item)]

    def _thought(self, event: dict[str, Any], item: dict[str, Any]) -> list[Part]:
        """The thinking in an item: its text if that did not arrive in pieces, and the data to be sent back."""
        text = self.thinking.rest_of_item(event, text_of(item.get("summary")) or text_of(item.get("content")))
        kept = {name: value for name, value in item.items() if value is not None}
        opaque = json_of(kept).decode() if item.get("encrypted_content") else None
        return [ThinkingPart(text, opaque=opaque)] if text or opaque else []

    def _read_message(self, event: dict[str, Any], item: dict[str, Any]) -> list[Part]:
        """The text of a message if that did not arrive in pieces, and other fields to be sent back, such as its
        phase."""
        said, refusal = content_text(item.get("content"))
        self.is_refused = self.is_refused or bool(refusal)
        text = self.text.rest_of_item(event, said)
        added = fields_beyond(item, _MESSAGE_FIELDS)
        beside = [extra_part("responses", self.model, message=added)] if added else []
        return [*_texts(text), *beside]

    def _called(self, call: OpenCall, item: dict[str, Any]) -> list[Part]:
        """Ends a call. `item` has the arguments if it is complete; otherwise they are the pieces that arrived. A call
        without arguments is held until the end, where they may still arrive."""
        call_id, name, raw = item.get("call_id") or call.id, item.get("name") or call.name, call.arguments_with(item)
        added = fields_beyond(item, _CALL_FIELDS)
        opaque = extra_json("responses", self.model, call=added) if added else None
        part = call_part(call_id, name, raw, arguments_of(raw), opaque=opaque)
        if not self.waiting and not is_nothing(raw):
            return [*self.made.new([part])]
        if len(self.waiting) > MOST_CALLS:
            raise too_many_calls(self.api.name)
        self.waiting.append(part)
        return []

    def _finish(self, response: dict[str, Any], kind: str) -> list[Part]:
        status = response.get("status") or kind
        if response.get("error") and status not in ("completed", "incomplete"):
            raise openai_fault(response["error"], self.api)
        parts = self._rest(output_of(response))
        if usage := as_object(response.get("usage")):
            parts.append(UsagePart(_usage(usage)))
        self.reason = self._reason(response, status if kind in ("completed", "done") else kind)
        if self.is_refused:
            self.reason = "refusal"
        return parts

    def _rest(self, output: list[dict[str, Any]]) -> list[Part]:
        """The calls still open at the end, and the items that only the whole output has. Its ids may differ from those
        in the stream, so a kind of item counts only if the stream had none of it."""
        parts = [part for call in self.calls.take_rest() for part in self._called(call, {})]
        is_called = bool(self.waiting) or self.made.is_any
        is_said, is_thought, has_ended = self.text.is_any, self.thinking.is_any, self.has_ended
        for index, item in enumerate(output):
            event = {"output_index": index, "item": item}
            match item.get("type"):
                case "function_call":
                    parts += [] if is_called else self._end(event)
                case "message":
                    told = [] if is_said else self._end(event)
                    parts += [part for part in told if not has_ended or isinstance(part, TextPart)]
                case "reasoning" if is_thought or has_ended:
                    continue
                case _:
                    parts += [] if has_ended else self._end(event)
        waiting, self.waiting = completed(self.waiting, output), []
        return [*parts, *(part for call in waiting for part in self.made.new([call]))]

    def _reason(self, response: dict[str, Any], status: object) -> FinishReason:
        if status in ("completed", "done"):
            return "tool_calls" if self.made.is_any else "stop"
        why = as_object(response.get("incomplete_details")).get("reason")
        if status != "incomplete":
            raise broken_off(self.api.name, status, why)
        reason = (INCOMPLETE.get(str(why)) or ending_of(why)) if why else "length"
        if reason is None:
            raise broken_off(self.api.name, why)
        return reason


def _texts(text: str) -> list[Part]:
    return [TextPart(text)] if text else []


def _usage(usage: dict[str, Any]) -> Usage:
    read = as_object(usage.get("input_tokens_details"))
    written = as_object(usage.get("output_tokens_details"))
    return Usage(
        input=tokens(usage.get("input_tokens")),
        cached=tokens(read.get("cached_tokens")),
        output=tokens(usage.get("output_tokens")),
        thinking=tokens(written.get("reasoning_tokens")),
    )


def _body(request: ModelRequest, computer: ComputerForm | None, *, may_search: bool, is_official: bool) -> bytes:
    body: dict[str, Any] = {
        "model": request.model,
        "instructions": request.system,
        "stream": True,
        "store": False,
        "max_output_tokens": max(request.max_output_tokens, MIN_OUTPUT_TOKENS),
        **responses_fields(request.model, request.thinking, is_official=is_official),
    }
    if request.tools:
        body["tools"] = declared_search(declared(request.tools, computer), may_search=may_search)
    if computer == "computer_use_preview":
        # Requests without it are refused.
        body["truncation"] = "auto"
    return body_of(body, "input", items_of(request, computer, may_search=may_search))
