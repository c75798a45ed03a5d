"""Anthropic's messages."""

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
from backend_api.infrastructure.llm.anthropic_computer_tool import BETAS, ComputerForm, call_of, declared, form_of
from backend_api.infrastructure.llm.anthropic_input import CACHED, calls_unthought, messages_of, spoken_in
from backend_api.infrastructure.llm.bounds import MOST_CALLS, TIMEOUTS, Timeouts, tokens, too_many_calls
from backend_api.infrastructure.llm.endpoint import CONNECTIONS, Endpoint, ProviderApi, custom_headers
from backend_api.infrastructure.llm.faults import fault_in_stream
from backend_api.infrastructure.llm.model_facts import FactsOf, ModelFacts, elsewhere
from backend_api.infrastructure.llm.property_names import PropertyNames
from backend_api.infrastructure.llm.surrogates import json_of
from backend_api.infrastructure.llm.thinking import claude_fields
from backend_api.infrastructure.llm.tool_calls import given_arguments
from backend_api.infrastructure.llm.turns import body_of
from backend_api.infrastructure.llm.wire import ask, cut

ANTHROPIC = ProviderApi(name="Anthropic", key_setting="ANTHROPIC_API_KEY")
VERSION = "2026-10-21"
"""Of its API: that of its own client."""
REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}


class AnthropicModel:
    """`ChatModel` over the messages of Anthropic, or of a server that speaks as it does."""

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
        """`is_users`: the key is a user's. Neither a redirect nor anything of the deployment goes with it. `api` says
        who is asked."""
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
        """Close its connections."""
        await self.endpoint.aclose()

    def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        facts = self._facts(request.model)
        form = form_of(request, facts)
        betas = BETAS.get(form, "") if form is not None else ""
        names = PropertyNames(request.tools)
        return ask(self.endpoint, _body(request, facts, form, names), _State(self._api, form, names), betas=betas)


@dataclass(slots=True)
class _Block:
    kind: str
    id: str = ""
    name: str = ""
    toolset: str = ""
    pieces: list[str] = field(default_factory=list[str])
    given: object = None


@dataclass(slots=True)
class _State:
    api: ProviderApi
    computer: ComputerForm | None = None
    """The computer tool that is declared."""
    names: PropertyNames = field(default_factory=lambda: PropertyNames([]))
    blocks: dict[int, _Block] = field(default_factory=dict[int, _Block])
    usage: dict[str, int] = field(default_factory=dict[str, int])
    reason: str = ""
    is_over: bool = False

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """The ending. A stream without its last event was cut, whether it `is_done` or not."""
        if not self.is_over:
            raise cut(self.api.name)
        return [FinishPart(REASONS.get(self.reason, "stop"))]

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        match event.get("type"):
            case "content_block_delta":
                return self._take_delta(event)
            case "content_block_start":
                return self._start(event)
            case "content_block_stop":
                return self._stop(event)
            case "message_start":
                return self._count(event.get("message", {}).get("usage"))
            case "message_delta":
                self.reason = event.get("delta", {}).get("stop_reason") or self.reason
                return self._count(event.get("usage"))
            case "message_stop":
                self.is_over = True
                return []
            case "error":
                raise fault_in_stream(event.get("error"), provider=self.api.name, key_setting=self.api.key_setting)
            case _:
                return []

    def _start(self, event: dict[str, Any]) -> list[Part]:
        block: dict[str, Any] = event.get("content_block") or {}
        kind = block.get("type", "")
        if len(self.blocks) > MOST_CALLS:
            raise too_many_calls(self.api.name)
        self.blocks[event.get("index", 0)] = _Block(
            kind, id=block.get("id", ""), name=block.get("name", ""), given=block.get("input") or None
        )
        self.blocks[event.get("index", 0)].toolset = str(block.get("toolset_name") or "")
        if kind == "redacted_thinking":
            return [ThinkingPart("", opaque=json_of(block).decode())]
        if kind == "text" and block.get("text"):
            return [TextPart(str(block["text"]))]
        return []

    def _take_delta(self, event: dict[str, Any]) -> list[Part]:
        delta: dict[str, Any] = event.get("delta") or {}
        match delta.get("type"):
            case "text_delta":
                return [TextPart(str(delta.get("text") or ""))]
            case "thinking_delta":
                return [ThinkingPart(str(delta.get("thinking") or ""))]
            case "signature_delta":
                return [ThinkingPart("", signature=str(delta.get("signature") or ""))]
            case "input_json_delta":
                block = self.blocks.get(event.get("index", 0))
                if block is not None:
                    block.pieces.append(delta.get("partial_json", ""))
                return []
            case _:
                return []

    def _stop(self, event: dict[str, Any]) -> list[Part]:
        block = self.blocks.pop(event.get("index", 0), None)
        if block is None or block.kind != "tool_use":
            return []
        raw = "".join(block.pieces)
        if block.given is not None and not raw:
            raw = given_arguments(block.given)
        return [self.names.restored(call_of(block.id, block.name, block.toolset, raw, self.computer))]

    def _count(self, usage: dict[str, Any] | None) -> list[Part]:
        if not usage:
            return []
        self.usage.update({key: tokens(value) for key, value in usage.items() if value is not None})
        read = self.usage.get("cache_read_input_tokens", 0)
        written = self.usage.get("cache_creation_input_tokens", 0)
        sent = self.usage.get("input_tokens", 0) + written + read
        output = self.usage.get("output_tokens", 0)
        return [UsagePart(Usage(input=sent, cached=read, cache_write=written, output=output))]


def _body(request: ModelRequest, facts: ModelFacts, computer: ComputerForm | None, names: PropertyNames) -> bytes:
    spoken = spoken_in(request, computer)
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
        body["tools"] = declared(names.tools, computer)
    return body_of(body, "messages", messages_of(spoken, request, computer))
