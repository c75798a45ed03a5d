"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from support.stack import Stack, stack

__all__ = ["stack"]


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
