"""A sandbox whose memory the kernel lets nobody read for a while, beside one that fills its workspace."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import pytest

from support.hostile_programs import FILL_STEADILY, KEEP_MAPPINGS, hold_still
from support.intruder import enter
from support.stack import run_stack

SETTINGS = {"SANDBOX_DISK_LIMIT_MB": "50", "SANDBOX_DESKTOP": "false", "SANDBOX_POOL_SIZE": "0"}
ENDED_S = 30.0
"""After the beginning; alone it took 12 s on a busy machine."""
BEGUN_S = 60.0

pytestmark = [pytest.mark.quiet, pytest.mark.timeout(300)]


async def test_a_sandbox_that_keeps_the_watch_from_reading_spares_no_other_its_limit() -> None:
    """The lock of its own mappings was held by a process of the lowest priority: reads of them took half a minute, and
    so did every look at the others."""
    with (
        tempfile.TemporaryDirectory(prefix="kept-", dir="/tmp") as folder,
        run_stack(Path(folder), **SETTINGS) as stack,
    ):
        async with enter(stack, "keeper", "intruder") as keeper, enter(stack, "filler", "other") as filler:
            await keeper.begin(KEEP_MAPPINGS)
            async with asyncio.timeout(BEGUN_S):
                while not (stack.data_dir / "sandboxes" / "workspaces" / "keeper" / "keeping").exists():
                    await asyncio.sleep(0.1)
            began = time.monotonic()
            await filler.begin(f"{hold_still(after_s=1)}\n{FILL_STEADILY}")
            async with asyncio.timeout(BEGUN_S):
                while (await filler.manager.get(f"/sandboxes/{filler.sandbox_id}")).json()["status"] == "ready":
                    await asyncio.sleep(0.2)
            assert time.monotonic() - began < ENDED_S
