"""The gateway's adapters of models, one for each wire format, that ask a server of the tests."""

from __future__ import annotations

from typing import Any

from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.openai.responses import OpenAiResponsesModel
from support.model_seals import Form

FORMS: tuple[Form, ...] = ("chat", "responses", "messages")
MODELS: dict[Form, tuple[str, str]] = {
    "chat": ("deepseek-v4-pro", "some-model"),
    "responses": ("gpt-5.5", "gpt-5.6"),
    "messages": ("claude-sonnet-4-5", "claude-opus-4-6"),
}
"""Two of each, which are told in other ways that they think."""


def adapter_of(form: str, url: str, **options: Any) -> Any:
    """For a server at this address, of which OpenAI's formats ask what is below `/v1`."""
    match form:
        case "chat":
            return OpenAiChatModel(key="k", base_url=f"{url}/v1", **options)
        case "responses":
            return OpenAiResponsesModel(key="k", base_url=f"{url}/v1", **options)
        case _:
            return AnthropicModel(key="k", base_url=url, **options)
