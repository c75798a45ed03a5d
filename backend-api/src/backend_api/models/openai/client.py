"""The connections, key and headers of OpenAI and of compatible servers, for any of its wire formats."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from typing import ClassVar
from urllib.parse import urlsplit

from backend_api.agent.model import ModelError, Part
from backend_api.models.model_facts import OPENAI_HOST, FactsOf, unknown
from backend_api.models.wire.bounds import TIMEOUTS, Timeouts
from backend_api.models.wire.endpoint import CONNECTIONS, Endpoint, ProviderApi, custom_headers
from backend_api.models.wire.faults import fault_in_stream
from backend_api.models.wire.provider_stream import StreamState, ask

OPENAI = ProviderApi(name="The OpenAI-compatible provider", key_setting="OPENAI_API_KEY")
"""The provider at `OPENAI_BASE_URL`; a provider with settings of its own brings its own."""


class OpenAiClient:
    """The base class of the clients; a subclass sets the path of its wire format."""

    PATH: ClassVar[str]

    def __init__(
        self,
        *,
        key: str,
        base_url: str | None = None,
        timeouts: Timeouts = TIMEOUTS,
        connections: int = CONNECTIONS,
        is_users: bool = False,
        api: ProviderApi = OPENAI,
        facts: FactsOf = unknown,
    ) -> None:
        """`is_users`: key or address are a user's, so redirects are not followed and no headers of the deployment are
        sent. `api` names the provider."""
        self.api = api
        self.facts = facts
        base_url = base_url or f"https://{OPENAI_HOST}/v1"
        self.is_official = urlsplit(base_url).hostname == OPENAI_HOST
        headers = {"authorization": f"Bearer {key or 'none'}"}
        self.endpoint = Endpoint(
            base_url.rstrip("/") + self.PATH,
            headers if is_users else headers | _deployment_headers(),
            provider=api,
            timeouts=timeouts,
            connections=connections,
            follows_redirects=not is_users,
        )

    async def aclose(self) -> None:
        """Closes its connections."""
        await self.endpoint.aclose()

    def _ask(self, body: bytes, state: StreamState) -> AsyncGenerator[Part, None]:
        return ask(self.endpoint, body, state)


def _deployment_headers() -> dict[str, str]:
    """Headers from the deployment's environment, by the variables that OpenAI's own client reads."""
    named = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}
    headers = {header: os.environ.get(variable, "") for header, variable in named.items()}
    return headers | custom_headers("OPENAI_CUSTOM_HEADERS")


def openai_fault(error: object, api: ProviderApi) -> ModelError:
    """The error that a server sends in the middle of a stream."""
    return fault_in_stream(error, provider=api.name, key_setting=api.key_setting)
