"""Two sandboxes of each real runtime with their desktops, side by side."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio

from support.cells import Cell, Cells
from support.runtime_labs import DockerLab, ProcessLab, docker_lab, process_lab
from support.sandboxes import START_S, inside, new_identity, spec_of, why_no_docker


@pytest.fixture(scope="module")
def no_proxy() -> Generator[None]:
    """Endpoints are reached directly."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [one for one in os.environ if one.lower().endswith("_proxy")]:
            patch.delenv(name)
        yield


@pytest_asyncio.fixture(params=["process", "docker"], scope="module", loop_scope="module")
async def cells(request: pytest.FixtureRequest, no_proxy: None) -> AsyncGenerator[Cells]:
    """Shared by a module: no test may harm them."""
    reason = why_no_docker() if request.param == "docker" else None
    if reason is not None:
        pytest.skip(reason)
    given = inside(desktop=True)
    async with process_lab(given) if request.param == "process" else docker_lab(given) as lab:
        yield Cells(own=await _cell(lab), other=await _cell(lab))


async def _cell(lab: ProcessLab | DockerLab) -> Cell:
    identity = new_identity()
    async with asyncio.timeout(START_S):
        started = await lab.runtime.start_sandbox(spec_of(identity))
    assert started.has_desktop
    return Cell(lab, identity, started)
