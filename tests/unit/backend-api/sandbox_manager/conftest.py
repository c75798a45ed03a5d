"""The client of a manager at http://manager, for which `respx_mock` answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx
import pytest

from backend_api.sandboxes.manager.rest import manager_http


@pytest.fixture
async def http() -> AsyncGenerator[httpx.AsyncClient]:
    async with manager_http("http://manager", "token") as client:
        yield client
