"""Stacks to attack, whole and real: one run by root, one by an ordinary user, one of containers.

Each is shared by all tests of a session, so a test leaves it as it found it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.compose_stack import ComposeStack, run_compose_stack
from support.gateways import gateways, preview_domain, web_options
from support.stack import Stack, run_stack

__all__ = ["gateways", "preview_domain", "web_options"]

# What the next sweep has to put right is waited for: sweeps come more often than every 15 s.
SWEEPS = {"SANDBOX_TUNING": "sweep-ms=3000"}


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The local stack as root runs it: a user id for each sandbox, and cgroups."""
    with run_stack(tmp_path_factory.mktemp("stack"), **SWEEPS) as running:
        yield running


@pytest.fixture(scope="session")
def ordinary_stack() -> Iterator[Stack]:
    """The local stack of somebody who is not root: one user id for all, limits of the shell instead of cgroups."""
    # Not below pytest's own folder: each pytest that starts on the machine closes that to all but its user.
    with tempfile.TemporaryDirectory(prefix="ordinary-", dir="/tmp") as folder:
        with run_stack(Path(folder), ordinary=True, **SWEEPS) as running:
            yield running


@pytest.fixture(scope="session")
def compose_stack() -> Iterator[ComposeStack]:
    """The stack of the compose file."""
    with run_compose_stack(**SWEEPS) as running:
        yield running
