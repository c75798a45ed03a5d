"""The client of a manager at http://manager, for which `respx_mock` answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from backend_api.sandboxes.manager.rest import manager_http
from service_kit.bounded_http import BoundedHttp


@pytest.fixture
async def http() -> AsyncGenerator[BoundedHttp]:
    async with aclosing(manager_http("http://manager", "token")) as client:
        yield client
