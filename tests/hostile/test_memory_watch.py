"""Sandboxes of an ordinary user's manager that keep its memory watch busy, beside one that takes more than it may."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.intruder import enter
from support.stack import Stack, run_stack

pytestmark = [pytest.mark.quiet, pytest.mark.timeout(300)]

LIMIT_MIB = 1024
BEGUN_S = 60.0
SETTLED_S = 6.0
"""Within which the descriptors of every sandbox were looked at."""
KEPT_S = 15.0
# The kernel lists all that an epoll instance watches to whoever reads about one descriptor of it: milliseconds for each
# of thousands of descriptors, in processes of which only `fdinfo` may be read.
SLOW_DESCRIPTORS = """
import ctypes, os, resource, select, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
epoll, (reader, _) = select.epoll(), os.pipe()
watched = [os.dup(reader) for _ in range(4000)]
for file in watched:
    epoll.register(file, select.EPOLLIN)
if os.fork() == 0:
    for file in watched:
        os.close(file)
held = [os.dup(epoll.fileno()) for _ in range(3500)]
os.makedirs("/workspace/keeping", exist_ok=True)
time.sleep(200)
"""
GREEDY = """
import os, time
for _ in range(12):
    if os.fork() == 0:
        held = bytearray(128 << 20)
        for at in range(0, len(held), 4096):
            held[at] = 1
        time.sleep(SLEEP_S)
        os._exit(0)
if sum(os.waitstatus_to_exitcode(os.wait()[1]) == 0 for _ in range(12)) == 12:
    open("/workspace/kept", "w").close()
"""


@pytest.fixture(scope="module")
def small_stack() -> Iterator[Stack]:
    """An ordinary user's, whose sandboxes may have little."""
    limits = {"SANDBOX_MEMORY_MB": str(LIMIT_MIB), "SANDBOX_DESKTOP": "false", "SANDBOX_POOL_SIZE": "0"}
    with tempfile.TemporaryDirectory(prefix="watch-", dir="/tmp") as folder:
        with run_stack(Path(folder), ordinary=True, **limits) as running:
            yield running


async def test_a_sandbox_whose_descriptors_take_long_to_look_at_spares_no_other_its_limit(small_stack: Stack) -> None:
    """One look at it took a minute, for which nobody's memory was watched."""
    async with (
        enter(small_stack, "slow", "intruder") as slow,
        enter(small_stack, "greedy") as greedy,
    ):
        await slow.begin(SLOW_DESCRIPTORS)
        workspaces = small_stack.data_dir / "sandboxes" / "workspaces"
        async with asyncio.timeout(BEGUN_S):
            while not (workspaces / "slow" / "keeping").exists():
                await asyncio.sleep(0.1)
        await asyncio.sleep(SETTLED_S)
        await greedy.python(GREEDY.replace("SLEEP_S", str(KEPT_S)))
        assert not (workspaces / "greedy" / "kept").exists(), "it kept more than it may have"
