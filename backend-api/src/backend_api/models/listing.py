"""The models that a provider lists for a key.

Sources: OpenAI's `GET /v1/models`, which compatible servers have too (OpenRouter, DeepSeek, Gemini, Ollama), and
Anthropic's `GET /v1/models`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import aiohttp
from pydantic import BaseModel, TypeAdapter

from backend_api.agent.catalogue import ProviderName
from backend_api.agent.model import ModelUnavailableError
from backend_api.models.anthropic.messages import ANTHROPIC, VERSION
from backend_api.models.model_facts import OPENAI_HOST
from backend_api.models.openai.client import OPENAI
from backend_api.models.wire.bounds import Timeouts
from backend_api.models.wire.endpoint import Endpoint
from backend_api.models.wire.provider_stream import OTHER_FORMAT, answering
from service_kit.bounded_json import MalformedJsonError, read_json

MAX_BYTES = 8 * 1024 * 1024
"""OpenRouter's list of some 400 models takes about one megabyte."""
MOST_VALUES = 500_000
MOST = 1_000
WITHIN_S = 20.0
MAX_NAME_CHARACTERS = 200
_TIMEOUTS = Timeouts(head_s=WITHIN_S, silence_s=WITHIN_S)
_NO_CHAT = re.compile(
    r"embed|whisper|tts|dall-e|moderation|transcri|realtime|audio|image|imagen|sora|veo|rerank|guard|davinci|babbage"
    r"|aqa|deep-research|-search-|speech|ocr",
    re.IGNORECASE,
)
"""Parts of the names of models that don't chat, or don't call tools."""


class _Model(BaseModel):
    id: str
    created: int | float = 0
    """Seconds since 1970. Anthropic's list has no such field, but is sorted newest first."""
    supported_parameters: list[str] | None = None
    """The request parameters a model accepts (OpenRouter)."""


class _Models(BaseModel):
    data: list[_Model] = []


_READ = TypeAdapter(_Models)


async def list_models(provider: ProviderName, key: str, base_url: str) -> Sequence[str]:
    """The names, newest first, of the models that can chat with tools, as the provider lists them for a user's key; an
    empty `base_url` means the provider's own address.

    Raises `ModelError`, whose message may repeat the key.
    """
    endpoint = _endpoint(provider, key, base_url)
    name = endpoint.provider.name
    try:
        async with asyncio.timeout(WITHIN_S), answering(endpoint, endpoint.get) as response:
            content = await _body(response)
        found = read_json(_READ, content, most_values=MOST_VALUES).data
    except TimeoutError as error:
        raise ModelUnavailableError(f"{name} did not list its models in time.") from error
    except MalformedJsonError as error:
        raise ModelUnavailableError(OTHER_FORMAT.format(name)) from error
    finally:
        await endpoint.aclose()
    newest_first = sorted(filter(_is_usable, found), key=lambda one: -one.created)
    return list(dict.fromkeys(one.id.removeprefix("models/") for one in newest_first))[:MOST]


async def _body(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > MAX_BYTES:
            raise MalformedJsonError("The list of models is too long.")
    return bytes(content)


def _endpoint(provider: ProviderName, key: str, base_url: str) -> Endpoint:
    headers = {"authorization": f"Bearer {key or 'none'}"}
    if provider == "anthropic":
        url = f"{(base_url or 'https://api.anthropic.com').rstrip('/')}/v1/models?limit={MOST}"
        api_headers = {"anthropic-version": VERSION}
        return Endpoint(
            url, headers, api_headers=api_headers, provider=ANTHROPIC, timeouts=_TIMEOUTS, follows_redirects=False
        )
    url = f"{(base_url or f'https://{OPENAI_HOST}/v1').rstrip('/')}/models"
    return Endpoint(url, headers, provider=OPENAI, timeouts=_TIMEOUTS, follows_redirects=False)


def _is_usable(model: _Model) -> bool:
    takes_tools = model.supported_parameters is None or "tools" in model.supported_parameters
    return 0 < len(model.id) <= MAX_NAME_CHARACTERS and takes_tools and _NO_CHAT.search(model.id) is None
