"""A real tool API on a unix socket, and the gateway's clients before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest

from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from support.endpoint import RunningEndpoint, running_endpoint
from support.endpoint_tokens import FixedTokens
from support.gateway_sandboxes import a_sandbox


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningEndpoint]:
    with running_endpoint(tmp_path_factory.mktemp("endpoint"), MAX_UPLOAD_BYTES="100000") as running:
        yield running


@pytest.fixture
def tokens(endpoint: RunningEndpoint) -> FixedTokens:
    return FixedTokens(endpoint)


@pytest.fixture
async def endpoints(tokens: FixedTokens) -> AsyncIterator[Endpoints]:
    async with Endpoints(tokens) as endpoints:
        yield endpoints


@pytest.fixture
def sandbox() -> Sandbox:
    return a_sandbox()


@pytest.fixture
def folder(endpoint: RunningEndpoint) -> Path:
    return endpoint.workspace
