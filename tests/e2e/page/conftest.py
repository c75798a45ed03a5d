"""Fixtures of the tests that drive the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from support.api_client import ApiClient
from support.page import kept_chromium
from support.page_states import ACCOUNTS, UNHURRIED, Places
from support.stack import Stack, run_stack


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All here run on one loop, so that they may share a browser: to start one costs more than most of them do."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def _one_browser() -> AsyncIterator[None]:
    async with kept_chromium():
        yield


@pytest.fixture(scope="session")
def accounts_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that people log in to. Its processes may be killed."""
    with run_stack(tmp_path_factory.mktemp("accounts"), AUTH_MODE="password") as running:
        yield running


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    """Those of the states of the page, of a module's own."""
    with (
        run_stack(tmp_path_factory.mktemp("of_one"), ordinary=False, **UNHURRIED) as stack,
        run_stack(tmp_path_factory.mktemp("of_many"), ordinary=False, **ACCOUNTS) as accounts,
    ):
        yield Places(stack, accounts.base_url)


async def sessions_of(api: ApiClient) -> set[str]:
    page = await api.json("GET", "/sessions", params={"limit": 100})
    return {one["id"] for one in page["items"]}


async def show_every_step(api: ApiClient) -> None:
    """Most tests look at single calls, which a person sees in the developer view."""
    await api.json("PUT", "/settings/appearance/face", json={"value": "developer"})


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _leaves_no_sandbox(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Conversations that a page began go with their computers, of which an account may have but so many."""
    name = next((name for name in ("stack", "desktop_stack") if name in request.fixturenames), None)
    if name is None:
        yield
        return
    stack: Stack = request.getfixturevalue(name)
    async with ApiClient(stack.base_url) as api:
        before = await sessions_of(api)
        await show_every_step(api)
        yield
        for session in await sessions_of(api) - before:
            await api.http.delete(f"/sessions/{session}")
