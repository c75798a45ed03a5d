"""The demo model: a scripted `ChatModel` for a machine without a key. It really drives the tools.

A state machine over the conversation alone: the same turns give the same answer, nothing is kept between calls. It
understands a handful of plain requests (see `demo_requests.PLANS`) and says so of anything else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from backend_api.domain.agent.capabilities.subagent import YOUR_PART
from backend_api.domain.agent.events import Usage
from backend_api.domain.agent.model import (
    FinishPart,
    ModelInfo,
    ModelRequest,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from backend_api.domain.agent.title import ASKED
from backend_api.infrastructure.llm.demo_requests import next_step
from backend_api.infrastructure.llm.demo_titles import title_for

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
        tools = frozenset(tool.name for tool in request.tools)
        step = next_step(request.turns, tools, is_subagent=YOUR_PART in request.system)
        if request.thinking in ("high", "max"):
            for piece in _PIECE.findall(step.thought):
                yield ThinkingPart(piece)
                await asyncio.sleep(self.delay_s)
        pieces = _PIECE.findall(step.text)
        for piece in pieces:
            yield TextPart(piece)
            await asyncio.sleep(self.delay_s)
        for call in step.calls:
            yield ToolCallPart(call)
        read = sum(len(getattr(turn, "text", "") or getattr(turn, "output", "")) for turn in request.turns) // 4
        yield UsagePart(Usage(input=read, output=len(pieces)))
        yield FinishPart("tool_calls" if step.calls else "stop")
