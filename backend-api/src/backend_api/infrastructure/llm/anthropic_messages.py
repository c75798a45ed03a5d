"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

import anthropic
import httpx2
from pydantic_core import to_json

from backend_api.domain.agent.events import Usage
from backend_api.domain.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelRequest,
    NoteTurn,
    Part,
    TextPart,
    Thinking,
    ThinkingPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    Turn,
    UsagePart,
    UserTurn,
)
from backend_api.domain.agent.pictures import Image
from backend_api.infrastructure.llm.faults import as_object, fault_in_stream
from backend_api.infrastructure.llm.model_facts import FactsOf, ModelFacts, elsewhere
from backend_api.infrastructure.llm.sse import data_lines
from backend_api.infrastructure.llm.thinking import claude_fields
from backend_api.infrastructure.llm.turns import images_of, note_text, pieces_of, result_text, user_text
from backend_api.infrastructure.llm.wire import (
    CONNECTIONS,
    TIMEOUT,
    Connections,
    arguments_of,
    cut,
    drain,
    opened,
    parse,
)

PROVIDER = "Anthropic"
KEY_SETTING = "ANTHROPIC_API_KEY"
SDK_ERRORS = (anthropic.APIStatusError, anthropic.APITimeoutError, anthropic.APIConnectionError)
REDACTED = "redacted:"
"""What logs of old have before redacted thinking, in place of a signature."""
CACHED: dict[str, str] = {"type": "ephemeral"}
REASONS: dict[str, Literal["stop", "length", "tool_calls", "refusal"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}


class AnthropicModel:
    """`ChatModel` over the official SDK's client; the stream is parsed here."""

    def __init__(
        self,
        *,
        key: str,
        base_url: str | None = None,
        timeout: httpx2.Timeout = TIMEOUT,
        connections: int = CONNECTIONS,
        facts: FactsOf = elsewhere,
    ) -> None:
        self._facts = facts
        self._connections = Connections(connections, timeout.pool)
        self._http = anthropic.DefaultAioHttpClient(timeout=timeout, limits=self._connections.limits)
        self._client = anthropic.AsyncAnthropic(
            api_key=key, base_url=base_url, max_retries=0, timeout=timeout, http_client=self._http
        )

    async def aclose(self) -> None:
        await self._client.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        content = [to_json(_body(request, self._facts(request.model)))]

        async def post() -> httpx2.Response:
            # Given away: it may be megabytes, and an answer takes minutes.
            return await self._client.post("/v1/messages", cast_to=httpx2.Response, content=content.pop(), stream=True)

        state = _State()
        async with opened(
            post,
            connections=self._connections,
            provider=PROVIDER,
            key_setting=KEY_SETTING,
            sdk_errors=SDK_ERRORS,
        ) as response:
            chunks = response.aiter_bytes()
            async with aclosing(data_lines(chunks)) as batches:
                async for batch in batches:
                    for data in batch:
                        for part in state.parts_of(parse(data, PROVIDER)):
                            yield part
                    if state.is_done:
                        break
            await drain(chunks)
        if not state.is_done:
            raise cut(PROVIDER)
        yield FinishPart(REASONS.get(state.reason, "stop"))


@dataclass(slots=True)
class _Block:
    kind: str
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    given: dict[str, Any] | None = None


@dataclass(slots=True)
class _State:
    blocks: dict[int, _Block] = field(default_factory=dict[int, _Block])
    usage: dict[str, int] = field(default_factory=dict[str, int])
    reason: str = ""
    is_done: bool = False

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
                self.is_done = True
                return []
            case "error":
                raise fault_in_stream(event.get("error"), provider=PROVIDER, key_setting=KEY_SETTING)
            case _:
                return []

    def _start(self, event: dict[str, Any]) -> list[Part]:
        block: dict[str, Any] = event.get("content_block") or {}
        kind = block.get("type", "")
        self.blocks[event.get("index", 0)] = _Block(
            kind, id=block.get("id", ""), name=block.get("name", ""), given=block.get("input") or None
        )
        if kind == "redacted_thinking":
            return [ThinkingPart("", opaque=to_json(block).decode())]
        if kind == "text" and block.get("text"):
            return [TextPart(block["text"])]
        return []

    def _take_delta(self, event: dict[str, Any]) -> list[Part]:
        delta: dict[str, Any] = event.get("delta") or {}
        match delta.get("type"):
            case "text_delta":
                return [TextPart(delta.get("text", ""))]
            case "thinking_delta":
                return [ThinkingPart(delta.get("thinking", ""))]
            case "signature_delta":
                return [ThinkingPart("", signature=delta.get("signature", ""))]
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
        arguments = block.given if block.given is not None and not raw else arguments_of(raw)
        return [ToolCallPart(ToolRequest(call_id=block.id, name=block.name, arguments=arguments, raw=raw))]

    def _count(self, usage: dict[str, Any] | None) -> list[Part]:
        if not usage:
            return []
        self.usage.update({key: value for key, value in usage.items() if isinstance(value, int)})
        read = self.usage.get("cache_read_input_tokens", 0)
        written = self.usage.get("cache_creation_input_tokens", 0)
        sent = self.usage.get("input_tokens", 0) + written + read
        output = self.usage.get("output_tokens", 0)
        return [UsagePart(Usage(input=sent, cached=read, cache_write=written, output=output))]


def _body(request: ModelRequest, facts: ModelFacts) -> dict[str, Any]:
    messages = messages_of(request)
    if messages:
        messages[-1]["content"][-1]["cache_control"] = CACHED
    body: dict[str, Any] = {
        "model": request.model,
        "system": [{"type": "text", "text": request.system, "cache_control": CACHED}],
        "messages": messages,
        "max_tokens": request.max_output_tokens,
        "stream": True,
        **claude_fields(
            facts,
            request.thinking,
            request.max_output_tokens,
            has_begun_without=_calls_unthought(messages),
        ),
    }
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    return body


def _calls_unthought(messages: Sequence[dict[str, Any]]) -> bool:
    """Whether its last words are calls with no thinking before them, as after an opening in the middle of its work."""
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    kinds: list[str] = [block["type"] for block in last["content"]] if last is not None else []
    return "tool_use" in kinds and kinds[0] not in ("thinking", "redacted_thinking")


_UNMARKED = ("thinking", "redacted_thinking")
"""Blocks that take no mark of the cache."""


def messages_of(request: ModelRequest) -> list[dict[str, Any]]:
    """Results of calls are the user's blocks; neighbours of one role are one message."""
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(request.turns, start=1):
        role = "assistant" if isinstance(turn, AssistantTurn) else "user"
        blocks = _blocks(turn, request)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        elif blocks:
            messages.append({"role": role, "content": blocks})
        if number == request.lasting and blocks and blocks[-1]["type"] not in _UNMARKED:
            blocks[-1]["cache_control"] = CACHED
    return messages


def _blocks(turn: Turn, request: ModelRequest) -> list[dict[str, Any]]:
    match turn:
        case UserTurn():
            return [{"type": "text", "text": user_text(turn)}]
        case NoteTurn():
            return [{"type": "text", "text": note_text(turn)}]
        case ToolTurn():
            return [_result(turn, request)]
        case AssistantTurn():
            blocks = _said(turn)
            blocks.extend(
                {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.arguments or {}}
                for call in turn.calls
            )
            return blocks


def _result(turn: ToolTurn, request: ModelRequest) -> dict[str, Any]:
    text = result_text(turn, request)
    if not text.strip():
        text = "(no output)"
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": turn.call_id, "content": text}
    if images := images_of(turn, request):
        result["content"] = [{"type": "text", "text": text}, *map(_image, images)]
    elif not turn.success:
        # With pictures it would be refused: an error is text alone.
        result["is_error"] = True
    return result


def _image(image: Image) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.base64}
    return {"type": "image", "source": source}


def _said(turn: AssistantTurn) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for piece in pieces_of(turn):
        match piece:
            case str():
                blocks.append({"type": "text", "text": piece})
            case Thinking():
                blocks.extend(_thought(piece))
    return blocks


def _thought(thinking: Thinking) -> list[dict[str, Any]]:
    signature = thinking.signature or ""
    if signature.startswith(REDACTED):
        return [{"type": "redacted_thinking", "data": signature.removeprefix(REDACTED)}]
    if signature:
        return [{"type": "thinking", "thinking": thinking.text, "signature": signature}]
    block = as_object(arguments_of(thinking.opaque or ""))
    return [block] if block.get("type") == "redacted_thinking" else []
