"""Fixtures of the tests that drive the page."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from support.api_client import ApiClient
from support.stack import Stack


async def sessions_of(api: ApiClient) -> set[str]:
    page = await api.json("GET", "/sessions", params={"limit": 100})
    return {one["id"] for one in page["items"]}


@pytest.fixture(autouse=True)
async def _leaves_no_sandbox(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Conversations that a page began go with their computers, of which an account may have but so many."""
    name = next((name for name in ("stack", "desktop_stack") if name in request.fixturenames), None)
    if name is None:
        yield
        return
    stack: Stack = request.getfixturevalue(name)
    async with ApiClient(stack.base_url) as api:
        before = await sessions_of(api)
        yield
        for session in await sessions_of(api) - before:
            await api.http.delete(f"/sessions/{session}")
