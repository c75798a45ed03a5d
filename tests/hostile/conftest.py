"""Stacks to attack, whole and real: one run by root, one by an ordinary user, one of containers.

Each is shared by all tests of a session, so a test leaves it as it found it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.compose_stack import compose_stack
from support.stack import Stack, run_stack, stack

__all__ = ["compose_stack", "ordinary_stack", "stack"]


@pytest.fixture(scope="session")
def ordinary_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The local stack of somebody who is not root: one user id for all, limits of the shell instead of cgroups."""
    with run_stack(tmp_path_factory.mktemp("ordinary"), ordinary=True) as running:
        yield running
