"""A sandbox that makes it costly to be looked at: it holds up nobody's watch, and hides nothing behind it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from support.hostile_programs import hold_still
from support.intruder import Intruder, enter
from support.stack import Stack, run_stack

pytestmark = [pytest.mark.quiet, pytest.mark.timeout(300)]

# A hundred processes, each with all the descriptors one may have; those that are ended come again.
HOARD = """
import os, signal, sys, time
if os.fork():
    sys.exit(0)
os.setsid()
signal.signal(signal.SIGHUP, signal.SIG_IGN)
pipe = os.pipe()
def hoard():
    try:
        while True:
            os.dup(pipe[0])
    except OSError:
        time.sleep(600)
        os._exit(0)
left = 100
while True:
    while left:
        left -= 1
        if os.fork() == 0:
            hoard()
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            left += 1
    except OSError:
        pass
    time.sleep(AGAIN_S)
"""
# What it fills is deleted already, and nobody inside counts any more. Its process is a descendant far down.
FILL = (
    hold_still(after_s=5)
    + """
for _ in range(8):
    if os.fork():
        time.sleep(600)
file = os.open("/workspace/gone", os.O_WRONLY | os.O_CREAT, 0o600)
os.unlink("/workspace/gone")
while True:
    os.write(file, b"x" * (2 << 20))
    time.sleep(0.3)
"""
)


@contextlib.asynccontextmanager
async def hoarder(stack: Stack, name: str, *first: str, again_s: float = 1.0) -> AsyncGenerator[Intruder]:
    """One that has begun to, after it began with other programs."""
    async with enter(stack, name) as intruder:
        for number, source in enumerate([*first, HOARD.replace("AGAIN_S", str(again_s))]):
            file = f"/tmp/hoard{number}.py"
            await intruder.run(f"cat > {file} <<'END'\n{source}\nEND\npython3 -I {file} >/dev/null 2>&1")
        yield intruder


@pytest.fixture(scope="module", params=["root", "ordinary"])
def tight_stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A stack whose workspaces may hold little, run by either."""
    limits = {"SANDBOX_DISK_LIMIT_MB": "20", "SANDBOX_TUNING": "files=3000,sweep-ms=3000"}
    limits |= {"SANDBOX_DESKTOP": "false"}
    # Not below pytest's own folder: each pytest that starts on the machine closes that to all but its user.
    with tempfile.TemporaryDirectory(prefix="watched-", dir="/tmp") as folder:
        with run_stack(Path(folder), ordinary=request.param == "ordinary", **limits) as running:
            yield running


@pytest.mark.parametrize("again_s", [1.0, 0.01], ids=["now-and-then", "at-once"])
async def test_bytes_are_not_hidden_behind_descriptors(tight_stack: Stack, again_s: float) -> None:
    async with hoarder(tight_stack, f"hiding{round(100 * again_s)}", FILL, again_s=again_s) as intruder:
        told = await intruder.end_reason(120)
        assert "went on growing" in told or "could not be counted" in told
