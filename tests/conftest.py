"""Fixtures every kind of test may take."""

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

from service_kit.cancellation import let_cancellation_through
from support.servers import emptied_databases, mongo_database_name, mongo_server, redis_server
from support.stack import Stack

__all__ = ["emptied_databases", "mongo_database_name", "mongo_server", "redis_server"]

# As the mains do.
let_cancellation_through()

# How long an example takes tells of the machine, not of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


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
