"""What Anthropic tells of its cache."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from backend_api.agent.events import Usage
from backend_api.agent.model import ModelRequest, UsagePart, UserTurn
from backend_api.models.anthropic.messages import AnthropicModel
from support.model_server import Answer, ModelServer

REQUEST = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=10)
COUNTS = {"input_tokens": 3, "cache_creation_input_tokens": 500, "cache_read_input_tokens": 40, "output_tokens": 1}
FRAMES = [
    {"type": "message_start", "message": {"usage": COUNTS}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]


async def test_what_is_written_to_the_cache_is_told_apart() -> None:
    async with ModelServer() as server, asyncio.timeout(30):
        server.answer(Answer(frames=FRAMES))
        model = AnthropicModel(key="k", base_url=server.url)
        async with aclosing(model.stream(REQUEST)) as parts:
            used = [part.usage async for part in parts if isinstance(part, UsagePart)]
        await model.aclose()
    assert used[-1] == Usage(input=543, cached=40, cache_write=500, output=7)
