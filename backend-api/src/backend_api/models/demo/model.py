"""The demo model: a scripted `ChatModel` for a machine without a key. It really drives the tools.

A state machine over the conversation alone: the same turns give the same answer, nothing is kept between calls. It
understands a handful of plain requests (the scenes of `scenes.yaml`) and says so of anything else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from backend_api.agent.capabilities.subagent import YOUR_PART
from backend_api.agent.events import Usage
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelInfo,
    ModelRequest,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolRequest,
    Turn,
    UsagePart,
)
from backend_api.agent.title import ASKED
from backend_api.agent.tool_families import USE_TOOL
from backend_api.agent.use_tool_calls import resolve_call
from backend_api.models.demo.player import next_reply
from backend_api.models.demo.titles import title_for

DEMO_MODEL = ModelInfo(
    id="demo",
    label="Demo model",
    provider="demo",
    is_demo=True,
    thinking="optional",
    notes=[
        "Scripted, not a language model; it really uses the tools.",
        "To talk to a real model, give its key under Settings, Models and keys.",
    ],
)
_PIECE = re.compile(r"\s*\S{1,12}|\s+")


_LISTED = re.compile(r"^- \w+: .*", re.MULTILINE)
_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)*\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoModel:
    """`delay_s` is the pause between two pieces of text: 0 in tests, human speed by default."""

    delay_s: float = 0.02

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        if request.system == ASKED:
            title = title_for([*request.turns])
            if title:
                yield TextPart(title)
            yield UsagePart(Usage(input=len(request.system) // 4, output=len(title)))
            yield FinishPart("stop")
            return
        told = frozenset(tool.name for tool in request.tools)
        tools = told | _in_families(request) if USE_TOOL in told else told
        reply = next_reply([*map(_with_resolved_calls, request.turns)], tools, is_subagent=YOUR_PART in request.system)
        if request.thinking in ("high", "max"):
            for piece in _PIECE.findall(reply.thought):
                yield ThinkingPart(piece)
                await asyncio.sleep(self.delay_s)
        pieces = _PIECE.findall(reply.text)
        for piece in pieces:
            yield TextPart(piece)
            await asyncio.sleep(self.delay_s)
        for call in reply.calls:
            yield ToolCallPart(call if call.name in told else _through_pair(call))
        read = sum(len(getattr(turn, "text", "") or getattr(turn, "output", "")) for turn in request.turns) // 4
        yield UsagePart(Usage(input=read, output=len(pieces)))
        yield FinishPart("tool_calls" if reply.calls else "stop")


def _in_families(request: ModelRequest) -> frozenset[str]:
    """The tools that the prompt lists in addition to those of the request."""
    return frozenset(name for line in _LISTED.findall(request.system) for name in _NAME.findall(line))


def _with_resolved_calls(turn: Turn) -> Turn:
    """The turn with calls through the generic tool replaced by calls of the tools they meant."""
    if not isinstance(turn, AssistantTurn):
        return turn
    return replace(turn, calls=tuple(resolve_call(call).request for call in turn.calls))


def _through_pair(call: ToolRequest) -> ToolRequest:
    return replace(call, name=USE_TOOL, arguments={"name": call.name, "arguments": call.arguments or {}})
