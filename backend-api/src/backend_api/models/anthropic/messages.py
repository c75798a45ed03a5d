"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import Any, cast

from backend_api.agent.events import Usage
from backend_api.agent.model import (
    FinishPart,
    ModelRequest,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from backend_api.models.anthropic.computer_tool import BETAS, ComputerForm, call_of, declared, form_of
from backend_api.models.anthropic.input import CACHED, Form, calls_unthought, messages_of, spoken_in
from backend_api.models.model_facts import FactsOf, ModelFacts, elsewhere
from backend_api.models.wire.bounds import MOST_CALLS, TIMEOUTS, Timeouts, tokens, too_many_calls
from backend_api.models.wire.endings import broken_off, ending_of, is_ending, without_reason
from backend_api.models.wire.endpoint import CONNECTIONS, Endpoint, ProviderApi, custom_headers
from backend_api.models.wire.extra_fields import extra_json, extra_part, fields_beyond, text_of
from backend_api.models.wire.faults import fault_in_stream
from backend_api.models.wire.property_names import PropertyNames
from backend_api.models.wire.provider_stream import ask, cut
from backend_api.models.wire.surrogates import json_of
from backend_api.models.wire.thinking import claude_fields
from backend_api.models.wire.tool_calls import (
    RepeatedCalls,
    arguments_of,
    arguments_text,
    is_nothing,
    without_empty_start,
)
from backend_api.models.wire.tool_search import loaded_in, searches
from backend_api.models.wire.turns import body_of

ANTHROPIC = ProviderApi(name="Anthropic", key_setting="ANTHROPIC_API_KEY")
VERSION = "2026-10-21"
"""The version of the API, as in Anthropic's own client."""
_CALL_FIELDS = frozenset({"type", "id", "name", "input", "toolset_name"})
_TEXT_FIELDS = frozenset({"type", "text", "citations"})
_KINDS = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})


class AnthropicModel:
    """`ChatModel` over the Messages API of Anthropic, or of a compatible server."""

    def __init__(
        self,
        *,
        key: str,
        base_url: str | None = None,
        timeouts: Timeouts = TIMEOUTS,
        connections: int = CONNECTIONS,
        is_users: bool = False,
        facts: FactsOf = elsewhere,
        api: ProviderApi = ANTHROPIC,
    ) -> None:
        """`is_users`: the key is a user's, so redirects are not followed and no headers of the deployment are sent.
        `api` names the provider."""
        self._api = api
        self._facts = facts
        headers = {"authorization": f"Bearer {key}"}
        self.endpoint = Endpoint(
            (base_url or "https://api.anthropic.com").rstrip("/") + "/v1/messages",
            headers if is_users else headers | custom_headers("ANTHROPIC_CUSTOM_HEADERS"),
            api_headers={"anthropic-version": VERSION},
            provider=api,
            timeouts=timeouts,
            connections=connections,
            follows_redirects=not is_users,
        )

    async def aclose(self) -> None:
        """Closes its connections."""
        await self.endpoint.aclose()

    def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        facts = self._facts(request.model)
        form = form_of(request, facts)
        betas = BETAS.get(form, "") if form is not None else ""
        may_search = searches(request, facts)
        names = PropertyNames([*request.tools, *(loaded_in(request) if may_search else [])])
        state = _State(self._api, request.model, form, names)
        body = _body(request, facts, Form(request.model, form, may_search), names)
        return ask(self.endpoint, body, state, betas=betas)


@dataclass(slots=True)
class _Block:
    """A block while its pieces arrive: `fields` are those of its start."""

    kind: str
    fields: dict[str, Any]
    pieces: list[str] = field(default_factory=list[str])
    more: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Pieces of texts in a block of an unknown kind."""

    @property
    def raw(self) -> str:
        """The arguments of a call, which may be complete at its start."""
        raw, given = without_empty_start("".join(self.pieces)), self.fields.get("input")
        return arguments_text(given) if given and is_nothing(raw) else raw


@dataclass(slots=True)
class _State:
    api: ProviderApi
    model: str
    computer: ComputerForm | None = None
    """The computer tool that the request declares."""
    names: PropertyNames = field(default_factory=lambda: PropertyNames([]))
    blocks: dict[int, _Block] = field(default_factory=dict[int, _Block])
    made: RepeatedCalls = field(default_factory=RepeatedCalls)
    usage: dict[str, int] = field(default_factory=dict[str, int])
    reason: object = None
    is_over: bool = False

    def events_of(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """The events of a whole message: the start and stop of each block, and the end."""
        content = answer.get("content")
        if answer.get("type") != "message" or not isinstance(content, list):
            kinds = ("message_", "content_block_")
            return [answer] if str(answer.get("type")).startswith(kinds) else []
        blocks: list[dict[str, Any]] = []
        for index, block in enumerate(cast("list[object]", content)):
            blocks.append({"type": "content_block_start", "index": index, "content_block": block})
            blocks.append({"type": "content_block_stop", "index": index})
        ending = {"stop_reason": answer.get("stop_reason")}
        return [
            *blocks,
            {"type": "message_delta", "delta": ending, "usage": answer.get("usage")},
            {"type": "message_stop"},
        ]

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """The finish and the blocks that did not end. A stream with neither an end nor a reason was cut, whether it
        `is_done` or not."""
        if not self.is_over and not self.reason:
            raise cut(self.api.name)
        if not self.reason:
            raise without_reason(self.api.name)
        reason = ending_of(self.reason)
        if reason is None:
            raise broken_off(self.api.name, self.reason)
        return [*(part for index in list(self.blocks) for part in self._stop(index)), FinishPart(reason)]

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        match event.get("type"):
            case "content_block_delta":
                return self._take_delta(event)
            case "content_block_start":
                return self._start(event)
            case "content_block_stop":
                return self._stop(event.get("index", 0))
            case "message_start":
                return self._count(event.get("message", {}).get("usage"))
            case "message_delta":
                word = event.get("delta", {}).get("stop_reason")
                self.reason = word if is_ending(word) else self.reason
                return self._count(event.get("usage"))
            case "message_stop":
                self.is_over = True
                return []
            case "error":
                raise fault_in_stream(event.get("error"), provider=self.api.name, key_setting=self.api.key_setting)
            case None if event.get("error"):
                raise fault_in_stream(event["error"], provider=self.api.name, key_setting=self.api.key_setting)
            case _:
                return []

    def _start(self, event: dict[str, Any]) -> list[Part]:
        block: dict[str, Any] = event.get("content_block") or {}
        kind = text_of(block.get("type"))
        if len(self.blocks) > MOST_CALLS:
            raise too_many_calls(self.api.name)
        index = event.get("index", 0)
        before = self._stop(index)
        self.blocks[index] = _Block(kind, block)
        match kind:
            case "redacted_thinking":
                return [*before, ThinkingPart("", opaque=json_of(block).decode())]
            case "text" if block.get("text"):
                return [*before, TextPart(text_of(block["text"]))]
            case "thinking" if block.get("thinking"):
                signature = text_of(block.get("signature")) or None
                return [*before, ThinkingPart(text_of(block["thinking"]), signature=signature)]
            case _:
                return before

    def _take_delta(self, event: dict[str, Any]) -> list[Part]:
        delta: dict[str, Any] = event.get("delta") or {}
        match delta.get("type"):
            case "text_delta":
                return [TextPart(text_of(delta.get("text")))]
            case "thinking_delta":
                return [ThinkingPart(text_of(delta.get("thinking")))]
            case "signature_delta":
                return [ThinkingPart("", signature=text_of(delta.get("signature")))]
            case "input_json_delta":
                block = self.blocks.get(event.get("index", 0))
                if block is not None:
                    block.pieces.append(text_of(delta.get("partial_json")))
                return []
            case _:
                self._take_unknown(event, delta)
                return []

    def _take_unknown(self, event: dict[str, Any], delta: dict[str, Any]) -> None:
        block = self.blocks.get(event.get("index", 0))
        if block is None or block.kind in _KINDS:
            return
        for name, value in delta.items():
            if name != "type" and isinstance(value, str):
                block.more.setdefault(name, []).append(value)
            elif name != "type":
                block.fields[name] = value

    def _stop(self, index: int) -> list[Part]:
        block = self.blocks.pop(index, None)
        match block.kind if block is not None else "":
            case "tool_use" if block is not None:
                return self._called(block)
            case "text" if block is not None:
                added = fields_beyond(block.fields, _TEXT_FIELDS)
                return [extra_part("messages", self.model, text=added)] if added else []
            case kind if block is not None and kind and kind not in _KINDS:
                # From a tool of the provider's own, or of a new kind.
                given: dict[str, Any] = {"input": arguments_of(block.raw)} if block.pieces else {}
                given |= {
                    name: "".join((text_of(block.fields.get(name)), *texts)) for name, texts in block.more.items()
                }
                return [extra_part("messages", self.model, block=block.fields | given)]
            case _:
                return []

    def _called(self, block: _Block) -> list[Part]:
        fields = block.fields
        toolset = text_of(fields.get("toolset_name"))
        added = fields_beyond(fields, _CALL_FIELDS)
        part = self.names.restored(
            call_of(fields.get("id") or "", fields.get("name") or "", toolset, block.raw, self.computer)
        )
        if added and part.request.opaque is None:
            part = ToolCallPart(replace(part.request, opaque=extra_json("messages", self.model, call=added)))
        return [*self.made.new([part])]

    def _count(self, usage: dict[str, Any] | None) -> list[Part]:
        if not usage:
            return []
        self.usage.update({key: tokens(value) for key, value in usage.items() if value is not None})
        read = self.usage.get("cache_read_input_tokens", 0)
        written = self.usage.get("cache_creation_input_tokens", 0)
        sent = self.usage.get("input_tokens", 0) + written + read
        output = self.usage.get("output_tokens", 0)
        return [UsagePart(Usage(input=sent, cached=read, cache_write=written, output=output))]


def _body(request: ModelRequest, facts: ModelFacts, form: Form, names: PropertyNames) -> bytes:
    """The request body. `names` has the tools of the request, followed by the tools that were loaded."""
    spoken = spoken_in(request, form)
    body: dict[str, Any] = {
        "model": request.model,
        "system": [{"type": "text", "text": request.system, "cache_control": CACHED}],
        "max_tokens": request.max_output_tokens,
        "stream": True,
        **claude_fields(
            facts,
            request.thinking,
            request.max_output_tokens,
            has_begun_without=calls_unthought(spoken),
        ),
    }
    if request.tools:
        told = len(request.tools)
        loaded = [one | {"defer_loading": True} for one in declared(names.tools[told:], None)]
        body["tools"] = declared(names.tools[:told], form.computer) + loaded
    return body_of(body, "messages", messages_of(spoken, request, form))
