"""Fixtures of gateways over real stores; `web_options` of a module says how they serve, and `preview_domain` at which
domain opened ports are."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import pytest

from backend_api.kit.http.ports import WebOptions
from support.gateway import Gateway, run_gateway
from support.servers import Server


@pytest.fixture
def web_options() -> WebOptions:
    """Password mode as it comes; a module of tests may have its own."""
    return WebOptions()


@pytest.fixture
def preview_domain() -> str:
    """None: opening ports is off."""
    return ""


@pytest.fixture
async def gateways(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, web_options: WebOptions, preview_domain: str
) -> AsyncGenerator[list[Gateway]]:
    """Two over the same stores, without limits."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                run_gateway(
                    mongo_server.uri,
                    mongo_database_name,
                    redis_server.uri,
                    options=web_options,
                    preview_domain=preview_domain,
                )
            )
            for _ in range(2)
        ]
