"""A real host that is signed in to with a key that was made for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from support.remote_hosts import Host, host_at
from support.sshd import NoSshdError, Sshd, run_sshd


@pytest.fixture
async def sshd(tmp_path: Path) -> AsyncGenerator[Sshd]:
    try:
        async with run_sshd(tmp_path) as one:
            yield one
    except NoSshdError as error:
        pytest.skip(f"no real sshd: {error}")


@pytest.fixture
async def host(sshd: Sshd) -> AsyncGenerator[Host]:
    async with host_at(sshd) as one:
        yield one
