"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from support.stack import Stack, run_stack
from support.stack import stack as desktop_stack

__all__ = ["desktop_stack", "stack"]


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """The stack most tests share. Its sandboxes have no desktop, which costs more to start than all else a test does:
    what looks at one, or uses the browser in it, takes `desktop_stack`."""
    with run_stack(tmp_path_factory.mktemp("stack"), SANDBOX_DESKTOP="false") as running:
        yield running


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows what the stack itself had to say."""
    report = yield
    if report.failed:
        given: dict[str, Any] = getattr(item, "funcargs", {})
        for name, value in given.items():
            if isinstance(value, Stack):
                report.sections.append((f"troubles of {name}", value.troubles()))
    return report
