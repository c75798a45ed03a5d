"""Signing in at an MCP server whose answers `peers` are."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest
import respx

from backend_api.mcp.oauth.authorizer import OAuthAuthorizer
from support.sign_in_answers import answer_sign_in, public_authorizer


@pytest.fixture
def peers() -> Generator[respx.MockRouter]:
    with respx.mock(assert_all_called=False) as router:
        yield answer_sign_in(router)


@pytest.fixture
async def authorizer() -> AsyncGenerator[OAuthAuthorizer]:
    async with public_authorizer() as made:
        yield made
