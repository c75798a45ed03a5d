"""What is told of a fault names the provider that was asked, and the setting that has its key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from backend_api.agent.model import ModelAuthError, ModelError, ModelRequest, ModelStreamCutError, UserTurn
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import PROVIDERS, LlmSettings
from backend_api.models.wire.endpoint import ProviderApi
from support.adapters import FORMS, adapter_of
from support.model_seals import Form
from support.model_server import Answer, ModelServer

OTHER = ProviderApi(name="Other", key_setting="OTHER_API_KEY")
SETTINGS: dict[str, Callable[[ModelServer], LlmSettings]] = {
    "openai": lambda server: LlmSettings(openai_key="sk-0123456789", openai_base_url=server.openai_url),
    "anthropic": lambda server: LlmSettings(anthropic_key="sk-0123456789", anthropic_base_url=server.url),
}


async def fault_of(chat: Any) -> ModelError:
    request = ModelRequest(model="m", system="s", turns=[UserTurn(text="hi")], tools=[], max_output_tokens=99)
    with pytest.raises(ModelError) as told:
        async for _ in chat.stream(request):
            pass
    return told.value


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_refused_key_is_told_with_the_setting_of_its_provider(provider: str) -> None:
    async with ModelServer(Answer(status=401, message="No.")) as server:
        async with Catalogue(SETTINGS[provider](server)) as catalogue:
            fault = await fault_of(catalogue.choose(None).chat)
    assert isinstance(fault, ModelAuthError)
    assert fault.detail.endswith(f"Check {PROVIDERS[provider].key_setting}.")


@pytest.mark.parametrize("form", FORMS)
async def test_an_adapter_tells_of_the_provider_that_it_asks(form: Form) -> None:
    cases: list[tuple[Answer, type[ModelError], str]] = [
        (Answer(status=401, message="No."), ModelAuthError, "Other refused the key (401): No. Check OTHER_API_KEY."),
        (
            Answer(texts=(), fault={"type": "authentication_error", "message": "No."}),
            ModelAuthError,
            "Other refused the key (401): No. Check OTHER_API_KEY.",
        ),
        (
            Answer(texts=("So",), frames=[], say_done=False),
            ModelStreamCutError,
            "The connection to Other was lost in the middle of the answer.",
        ),
    ]
    async with ModelServer() as server:
        chat = adapter_of(form, server.url, api=OTHER)
        try:
            for answer, kind, detail in cases:
                server.answer(answer)
                fault = await fault_of(chat)
                assert (type(fault), fault.detail) == (kind, detail)
        finally:
            await chat.aclose()
