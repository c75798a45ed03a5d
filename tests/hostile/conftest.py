"""Stacks to attack, whole and real: one run by root, one by an ordinary user, one of containers.

Each is shared by all tests of a session, so a test leaves it as it found it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.compose_stack import compose_stack
from support.gateways import gateways, web_options
from support.stack import Stack, run_stack, stack

__all__ = ["compose_stack", "gateways", "ordinary_stack", "stack", "web_options"]


@pytest.fixture(scope="session")
def ordinary_stack() -> Iterator[Stack]:
    """The local stack of somebody who is not root: one user id for all, limits of the shell instead of cgroups."""
    # Not below pytest's own folder: each pytest that starts on the machine closes that to all but its user.
    with tempfile.TemporaryDirectory(prefix="ordinary-", dir="/tmp") as folder:
        with run_stack(Path(folder), ordinary=True) as running:
            yield running
