"""The official SDK's client of OpenAI and of servers that speak as it does, in whichever of its wire formats."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, ClassVar

import httpx2
import openai

from backend_api.domain.agent.model import ModelError, Part
from backend_api.infrastructure.llm.bounds import BoundedClient
from backend_api.infrastructure.llm.faults import fault_in_stream
from backend_api.infrastructure.llm.model_facts import OPENAI_HOST, FactsOf, unknown
from backend_api.infrastructure.llm.wire import (
    CONNECTIONS,
    TIMEOUT,
    Connections,
    Endpoint,
    ProviderApi,
    StreamState,
    ask,
)

OPENAI = ProviderApi(name="The OpenAI-compatible provider", key_setting="OPENAI_API_KEY")
"""Of `OPENAI_BASE_URL`; a provider with settings of its own has one of its own."""


class _HttpClient(BoundedClient, openai.DefaultAioHttpClient):
    pass


class _UsersClient(openai.AsyncOpenAI):
    """Without what the environment says of the deployment: organization, project and headers of its own."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.organization = self.project = self.admin_api_key = None
        self._custom_headers = {}


class OpenAiClient:
    """Its connections, key and headers, none of its event objects. A subclass says where its wire format is spoken."""

    PATH: ClassVar[str]

    def __init__(
        self,
        *,
        key: str,
        base_url: str | None = None,
        timeout: httpx2.Timeout = TIMEOUT,
        connections: int = CONNECTIONS,
        is_users: bool = False,
        api: ProviderApi = OPENAI,
        facts: FactsOf = unknown,
    ) -> None:
        """`is_users`: key or address are a user's. Neither a redirect nor anything of the deployment goes with them.
        `api` says who is asked."""
        self.api = api
        self.facts = facts
        self._connections = Connections(connections, timeout.pool)
        http = _HttpClient(timeout=timeout, limits=self._connections.limits, follow_redirects=not is_users)
        client = _UsersClient if is_users else openai.AsyncOpenAI
        self._client = client(
            api_key=key or "none", base_url=base_url, max_retries=0, timeout=timeout, http_client=http
        )
        self._endpoint = Endpoint(self._client, http, self.PATH)
        self.is_official = self._client.base_url.host == OPENAI_HOST

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    def _ask(self, body: bytes, state: StreamState) -> AsyncGenerator[Part, None]:
        return ask(self._endpoint, body, state, provider=self.api, connections=self._connections)


def openai_fault(error: object, api: ProviderApi) -> ModelError:
    """The error such a server sends in the middle of a stream."""
    return fault_in_stream(error, provider=api.name, key_setting=api.key_setting)
