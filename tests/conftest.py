"""Fixtures every kind of test may take."""

from collections.abc import Generator

import pytest
from hypothesis import settings

from service_kit.cancellation import let_cancellation_through
from support.servers import emptied_databases, mongo_client, mongo_database_name, mongo_server, redis_server
from support.stack import running_stacks

__all__ = ["emptied_databases", "mongo_client", "mongo_database_name", "mongo_server", "redis_server"]

# As the mains do.
let_cancellation_through()

# How long an example takes tells of the machine, not of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows what the running stacks had to say, however the test came by them."""
    report = yield
    if report.failed:
        report.sections += [(f"troubles of the stack in {one.data_dir}", one.troubles()) for one in running_stacks]
    return report
