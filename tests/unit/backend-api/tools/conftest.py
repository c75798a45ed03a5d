"""The client that searches, whose peers `respx_mock` answers for."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from backend_api.kit.untrusted.api_client import ApiClient, api_client
from backend_api.web.search.search_request import DEADLINE_S, MAX_BYTES


@pytest.fixture
async def http() -> AsyncGenerator[ApiClient]:
    async with api_client(whole_s=DEADLINE_S, body_bytes=MAX_BYTES) as client:
        yield client
