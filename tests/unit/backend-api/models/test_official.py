"""A provider's own address: who asks there, and who says what its models can do, go by the same one."""

from __future__ import annotations

import pytest

from backend_api.models.model_facts import unknown
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.openai.client import OpenAiClient
from backend_api.models.openai.responses import OpenAiResponsesModel
from backend_api.models.providers import PROVIDERS, LlmSettings


@pytest.mark.parametrize(
    ("address", "is_official"),
    [
        ("", True),
        ("https://api.openai.com/v1", True),
        ("https://API.OpenAI.com/v1", True),
        ("https://api.openai.com.example.org/v1", False),
        ("http://127.0.0.1:8080/v1", False),
    ],
)
async def test_openai_is_asked_as_itself_at_its_own_address_alone(
    address: str, is_official: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    settings = LlmSettings(openai_key="k", openai_base_url=address)
    openai = PROVIDERS["openai"]
    model = openai.build(settings, unknown)
    assert isinstance(model, OpenAiClient)
    assert isinstance(model, OpenAiChatModel if address else OpenAiResponsesModel)
    assert (openai.is_official(settings), model.is_official) == (is_official, is_official)
    await model.aclose()
