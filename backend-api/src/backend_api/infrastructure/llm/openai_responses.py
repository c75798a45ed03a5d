"""OpenAI's responses, asked without a state of theirs: each request has the whole conversation, and what the model
reasoned goes back encrypted, as it came.

Source: OpenAI's reference of responses and their streaming events, and its guide on reasoning without storage.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2
import openai
from pydantic_core import to_json

from backend_api.domain.agent.events import Usage
from backend_api.domain.agent.model import (
    FinishPart,
    ModelRequest,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolRequest,
    UsagePart,
)
from backend_api.infrastructure.llm.faults import as_object, fault_in_stream
from backend_api.infrastructure.llm.responses_input import items_of
from backend_api.infrastructure.llm.sse import data_lines
from backend_api.infrastructure.llm.thinking import responses_fields
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

PROVIDER = "The OpenAI-compatible provider"
KEY_SETTING = "OPENAI_API_KEY"
SDK_ERRORS = (openai.APIStatusError, openai.APITimeoutError, openai.APIConnectionError)
OFFICIAL_HOST = "api.openai.com"
MIN_OUTPUT_TOKENS = 16
"""Fewer are refused."""
Reason = Literal["stop", "length", "tool_calls", "refusal"]
INCOMPLETE: dict[str, Reason] = {"content_filter": "refusal", "steered": "stop", "max_messages": "stop"}
"""Why an answer is not whole; any other reason, and none, is its length."""


class OpenAiResponsesModel:
    """`ChatModel` over the official SDK's client; the stream is parsed here."""

    def __init__(
        self,
        *,
        key: str,
        base_url: str | None = None,
        timeout: httpx2.Timeout = TIMEOUT,
        connections: int = CONNECTIONS,
    ) -> None:
        self._connections = Connections(connections, timeout.pool)
        self._http = openai.DefaultAioHttpClient(timeout=timeout, limits=self._connections.limits)
        self._client = openai.AsyncOpenAI(
            api_key=key or "none", base_url=base_url, max_retries=0, timeout=timeout, http_client=self._http
        )
        self._is_official = self._client.base_url.host == OFFICIAL_HOST

    async def aclose(self) -> None:
        await self._client.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        content = [to_json(_body(request, is_official=self._is_official))]

        async def post() -> httpx2.Response:
            # Given away: it may be megabytes, and an answer takes minutes.
            return await self._client.post("/responses", cast_to=httpx2.Response, content=content.pop(), stream=True)

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
                        if data == b"[DONE]":
                            continue
                        for part in state.parts_of(parse(data, PROVIDER)):
                            yield part
                    if state.reason is not None:
                        break
            await drain(chunks)
        if state.reason is None:
            raise cut(PROVIDER)
        yield FinishPart(state.reason)


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _State:
    """What a stream has said so far: `calls` are those that are not whole yet, by their place in the output."""

    calls: dict[int, _Call] = field(default_factory=dict[int, _Call])
    has_called: bool = False
    is_refused: bool = False
    reason: Reason | None = None

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
                raise fault_in_stream(error, provider=PROVIDER, key_setting=KEY_SETTING)
            case "error":
                error = event.get("error") or {**event, "type": ""}
                raise fault_in_stream(error, provider=PROVIDER, key_setting=KEY_SETTING)
            case _:
                return []

    def _begin(self, event: dict[str, Any]) -> list[Part]:
        item = as_object(event.get("item"))
        if item.get("type") == "function_call":
            call = _Call(id=item.get("call_id") or "", name=item.get("name") or "")
            self.calls[event.get("output_index") or 0] = call
        return []

    def _end(self, event: dict[str, Any]) -> list[Part]:
        item = as_object(event.get("item"))
        match item.get("type"):
            case "reasoning" if item.get("encrypted_content"):
                kept = {name: value for name, value in item.items() if value is not None}
                return [ThinkingPart("", opaque=to_json(kept).decode())]
            case "function_call":
                call = self.calls.pop(event.get("output_index") or 0, _Call())
                call.id, call.name = item.get("call_id") or call.id, item.get("name") or call.name
                return [self._called(call, item.get("arguments"))]
            case _:
                return []

    def _called(self, call: _Call, given: object = None) -> Part:
        """`given` is what the call says of its arguments once it is whole; else they are what came of them."""
        self.has_called = True
        raw = given if isinstance(given, str) and given else "".join(call.pieces)
        arguments = as_object(given) or arguments_of(raw)
        return ToolCallPart(ToolRequest(call_id=call.id, name=call.name, arguments=arguments, raw=raw))

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
        input=usage.get("input_tokens") or 0,
        cached=read.get("cached_tokens") or 0,
        output=usage.get("output_tokens") or 0,
        thinking=written.get("reasoning_tokens") or 0,
    )


def _body(request: ModelRequest, *, is_official: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "instructions": request.system,
        "input": items_of(request),
        "stream": True,
        "store": False,
        "max_output_tokens": max(request.max_output_tokens, MIN_OUTPUT_TOKENS),
        **responses_fields(request.model, request.thinking, is_official=is_official),
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
    return body
