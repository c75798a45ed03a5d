"""So many answers of a provider at once: who finds no connection free is told so, and served once one is. It is used
again, unless an answer was left in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

import pytest

from backend_api.agent.model import (
    ChatModel,
    ModelRateLimitError,
    ModelRequest,
    ModelUnavailableError,
    TextPart,
    UserTurn,
)
from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.wire.bounds import Timeouts
from backend_api.models.wire.endpoint import Connections
from support.model_server import Answer, ModelServer

HASTY = Timeouts(connect_s=0.3, head_s=10.0, silence_s=10.0)
REQUEST = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=10)
MODELS: list[Callable[[ModelServer], OpenAiChatModel | AnthropicModel]] = [
    lambda server: OpenAiChatModel(key="k", base_url=server.openai_url, timeouts=HASTY, connections=1),
    lambda server: AnthropicModel(key="k", base_url=server.url, timeouts=HASTY, connections=1),
]


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as running:
        yield running


async def ask(model: ChatModel) -> str:
    async with aclosing(model.stream(REQUEST)) as parts:
        return "".join([part.text async for part in parts if isinstance(part, TextPart)])


@pytest.mark.parametrize("build", MODELS)
async def test_one_that_finds_none_free_is_told_that_it_is_busy_and_may_try_again(
    build: Callable[[ModelServer], OpenAiChatModel | AnthropicModel], server: ModelServer
) -> None:
    model = build(server)
    server.answer(Answer(hang=True))
    first = asyncio.create_task(ask(model))
    async with asyncio.timeout(10):
        while not server.requests:
            await asyncio.sleep(0.01)
    with pytest.raises(ModelUnavailableError, match="Too many requests to") as caught:
        await ask(model)
    assert caught.value.may_retry
    first.cancel()
    await asyncio.wait({first})
    assert await ask(model)
    await model.aclose()


@pytest.mark.parametrize("build", MODELS)
async def test_a_connection_is_used_again_where_the_answer_was_read_to_its_end(
    build: Callable[[ModelServer], OpenAiChatModel | AnthropicModel], server: ModelServer
) -> None:
    model = build(server)
    # The end of the second comes after its last event.
    for answer in (Answer(), Answer(delay_s=0.01), Answer(status=429), Answer()):
        server.answer(answer)
        with suppress(ModelRateLimitError):
            assert await ask(model)
    assert server.connections == 1
    server.answer(Answer(hang_after=4))
    waiting = asyncio.create_task(ask(model))
    async with asyncio.timeout(10):
        await server.silent.wait()
        waiting.cancel()
        await server.closed_early.wait()
    assert await ask(model)
    assert server.connections == 2, "one that was cancelled was used again"
    await model.aclose()


async def test_there_are_no_fewer_at_once_than_there_may_be(server: ModelServer) -> None:
    many = 120  # more than its client of HTTP has by itself
    model = OpenAiChatModel(key="k", base_url=server.openai_url, connections=many)
    server.answer(*(Answer(hang=True) for _ in range(many)))
    asking = [asyncio.create_task(ask(model)) for _ in range(many)]
    try:
        async with asyncio.timeout(30):
            while len(server.requests) < many:
                await asyncio.sleep(0.01)
    finally:
        for one in asking:
            one.cancel()
        await asyncio.wait(asking)
        await model.aclose()


async def test_they_are_served_in_the_order_they_came() -> None:
    connections, served = Connections(1, 10.0), list[int]()

    async def one(number: int) -> None:
        async with connections.one("It"):
            served.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(number) for number in range(5)))
    assert served == [0, 1, 2, 3, 4]
