"""Chat completions of OpenAI and of everything that speaks its protocol."""

from __future__ import annotations

import json
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
from backend_api.infrastructure.llm.chat_messages import messages_of
from backend_api.infrastructure.llm.faults import fault_in_stream
from backend_api.infrastructure.llm.reasoning_details import ReasoningDetails
from backend_api.infrastructure.llm.sse import data_lines
from backend_api.infrastructure.llm.thinking import openai_fields
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
Reason = Literal["stop", "length", "tool_calls", "refusal"]
REASONS: dict[str, Reason] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
}


class OpenAiChatModel:
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
            return await self._client.post(
                "/chat/completions", cast_to=httpx2.Response, content=content.pop(), stream=True
            )

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
                            state.is_done = True
                            continue
                        for part in state.parts_of(parse(data, PROVIDER)):
                            yield part
                    if state.is_done:
                        break
            await drain(chunks)
        for part in state.closing_parts():
            yield part


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _State:
    """What a stream has said so far. Providers differ in every detail of calls, usage and endings."""

    calls: list[_Call] = field(default_factory=list[_Call])
    by_index: dict[int, _Call] = field(default_factory=dict[int, _Call])
    reason: Reason | None = None
    is_done: bool = False
    is_refused: bool = False
    details: ReasoningDetails = field(default_factory=ReasoningDetails)

    def parts_of(self, chunk: dict[str, Any]) -> list[Part]:
        if error := chunk.get("error"):
            raise fault_in_stream(error, provider=PROVIDER, key_setting=KEY_SETTING)
        parts: list[Part] = []
        if choices := chunk.get("choices"):
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
        if usage := chunk.get("usage"):
            parts.append(UsagePart(_usage(usage)))
        return parts

    def closing_parts(self) -> list[Part]:
        """Calls and ending. A stream without either of its closing marks was cut."""
        if self.reason is None and not self.is_done:
            raise cut(PROVIDER)
        calls = [
            ToolCallPart(ToolRequest(call_id=call.id, name=call.name, arguments=arguments_of(raw), raw=raw))
            for call in self.calls
            if (raw := "".join(call.pieces)) or call.name
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
            call = _Call()
            self.calls.append(call)
            if index is not None:
                self.by_index[index] = call
        call.id = call.id or identifier
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.pieces.append(arguments)
        elif arguments is not None:
            call.pieces.append(json.dumps(arguments))


def _usage(usage: dict[str, Any]) -> Usage:
    read: dict[str, Any] = usage.get("prompt_tokens_details") or {}
    written: dict[str, Any] = usage.get("completion_tokens_details") or {}
    return Usage(
        input=usage.get("prompt_tokens") or 0,
        cached=read.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0,
        output=usage.get("completion_tokens") or 0,
        thinking=written.get("reasoning_tokens") or 0,
        cache_write=read.get("cache_write_tokens") or 0,
    )


def _body(request: ModelRequest, *, is_official: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": "system", "content": request.system}, *messages_of(request)],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens" if is_official else "max_tokens": request.max_output_tokens,
        **openai_fields(request.model, request.thinking, is_official=is_official, has_tools=bool(request.tools)),
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
    return body
