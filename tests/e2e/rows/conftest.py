"""One stack a wire format, for all tests here."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from support.api_client import ApiClient
from support.scripted_stack import FORMS, Scripted, scripted_stack


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=FORMS)
async def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Scripted]:
    async with scripted_stack(tmp_path_factory.mktemp("scripted"), request.param) as one:
        yield one


@pytest_asyncio.fixture(loop_scope="session")
async def scripted(running: Scripted) -> AsyncGenerator[Scripted]:
    """With nothing left of the test before, and nothing refused in this one."""
    running.model.script.clear()
    running.model.requests.clear()
    running.model.title_requests.clear()
    running.model.refusals.clear()
    yield running
    assert running.model.refusals == []


@pytest_asyncio.fixture(loop_scope="session")
async def api(running: Scripted) -> AsyncGenerator[ApiClient]:
    async with ApiClient(running.stack.base_url) as client:
        yield client
