"""One stack a wire format, for all tests here."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from support.api_client import ApiClient
from support.scripted_stack import FORMS, Form, Scripted, scripted_stack

IN_ONE_FORM: dict[str, Form] = {
    "test_desktop.py": "chat",
    "test_mcp_programs.py": "messages",
    "test_ports.py": "chat",
    "test_remote_hosts.py": "chat",
    "test_report.py": "chat",
    "test_skills.py": "messages",
    "test_web.py": "responses",
}
"""What these tools do in a sandbox is the same in each wire format, so they act in one. A test that names its form
itself acts in that."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [
        item
        for item in items
        if isinstance(item, pytest.Function)
        and item.path.parent == Path(__file__).parent
        and "running" in item.fixturenames
        and not any(mark.args[0] == "running" for mark in item.iter_markers("parametrize"))
        and IN_ONE_FORM.get(item.path.name) not in (None, item.callspec.params.get("running"))
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


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
    running.model.respond = None
    yield running
    assert running.model.refusals == []


@pytest_asyncio.fixture(loop_scope="session")
async def api(running: Scripted) -> AsyncGenerator[ApiClient]:
    async with ApiClient(running.stack.base_url) as client:
        yield client
