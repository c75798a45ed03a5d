"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Generator

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
