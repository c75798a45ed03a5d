"""A server that redirects: followed where the deployment named it, and not where a user did."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from backend_api.agent.model import ModelRequest, ModelRequestError, TextPart, UserTurn
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings, OpenAiApi
from backend_api.models.wire.calls import RetryPolicy
from support.model_server import Answer, ModelServer

REQUEST = ModelRequest(model="m", system="s", turns=[UserTurn(text="hi")], tools=[], max_output_tokens=99)


@asynccontextmanager
async def two_servers() -> AsyncGenerator[tuple[ModelServer, ModelServer]]:
    async with ModelServer(Answer()) as first, ModelServer(Answer(texts=("from the other",))) as other:
        yield first, other


async def text_of(settings: LlmSettings) -> str:
    async with Catalogue(settings, RetryPolicy(max_retries=0)) as catalogue:
        chat = catalogue.choose("m").chat
        return "".join([part.text async for part in chat.stream(REQUEST) if isinstance(part, TextPart)])


@pytest.mark.parametrize("form", ["chat", "responses"])
@pytest.mark.parametrize("is_own", [True, False])
async def test_a_users_address_leads_nowhere_else(form: OpenAiApi, *, is_own: bool) -> None:
    path = "chat/completions" if form == "chat" else "responses"
    async with two_servers() as (first, other):
        first.default = Answer(status=307, headers={"Location": f"{other.openai_url}/{path}"})
        settings = LlmSettings(
            provider="openai",
            model="m",
            openai_key="sk-0123456789",
            openai_base_url=first.openai_url,
            openai_api=form,
            own=frozenset({"openai"} if is_own else ()),
        )
        if is_own:
            with pytest.raises(ModelRequestError, match=r"another address \(307\).* Set its final address"):
                await text_of(settings)
            assert other.requests == []
        else:
            assert await text_of(settings) == "from the other"
