"""The client that searches, whose peers `respx_mock` answers for."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx
import pytest

from backend_api.web.search.bounded_search import search_http


@pytest.fixture
async def http() -> AsyncGenerator[httpx.AsyncClient]:
    async with search_http() as client:
        yield client
