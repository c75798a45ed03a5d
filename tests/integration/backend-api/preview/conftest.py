"""A real tool API on a unix socket, and a gateway before it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest

from backend_api.infrastructure.tool_api.endpoints import Endpoints
from support.endpoint import RunningEndpoint, running_endpoint
from support.endpoint_tokens import FixedTokens
from support.gateway import Gateway
from support.gateway_sandboxes import a_sandbox
from support.previews import preview_gateway
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name"]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningEndpoint]:
    with running_endpoint(tmp_path_factory.mktemp("door")) as running:
        yield running


@pytest.fixture
async def house(
    endpoint: RunningEndpoint, mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> AsyncGenerator[Gateway]:
    async with (
        Endpoints(FixedTokens(endpoint)) as endpoints,
        preview_gateway(mongo_server, redis_server, mongo_database_name, endpoints, a_sandbox()) as gateway,
    ):
        yield gateway
