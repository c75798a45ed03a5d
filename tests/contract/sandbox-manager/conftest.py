"""Every runtime, each in its lab."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator

import pytest

from support.runtime_labs import FakeLab, Lab, docker_lab, process_lab
from support.sandboxes import inside, why_no_docker


@pytest.fixture(params=["fake", "process", "docker"])
async def lab(request: pytest.FixtureRequest) -> AsyncGenerator[Lab]:
    if request.param == "fake":
        yield FakeLab()
        return
    async with _real(request.param) as real:
        yield real


@pytest.fixture(params=["process", "docker"])
async def real_lab(request: pytest.FixtureRequest) -> AsyncGenerator[Lab]:
    """A runtime whose workspaces are on a disk."""
    async with _real(request.param) as real:
        yield real


@pytest.fixture(params=["process", "docker"])
async def tight_lab(request: pytest.FixtureRequest) -> AsyncGenerator[Lab]:
    """A real runtime whose sandboxes have little memory and few processes."""
    async with _real(request.param, memory_mib=256, pids=64) as real:
        yield real


def _real(name: str, memory_mib: int = 1024, pids: int = 512):
    given = inside(memory_mib=memory_mib, pids=pids)
    if name == "process":
        return process_lab(given)
    reason = why_no_docker()
    if reason is not None:
        pytest.skip(reason)
    return docker_lab(given)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Endpoints are reached directly."""
    for name in [one for one in os.environ if one.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
