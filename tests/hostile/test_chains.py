"""A file or memory without a name that is handed on from process to process, each of which ends at once: it counts, and
who does so is ended; who only starts many short processes goes on."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from support.hostile_programs import hold_still
from support.intruder import Intruder, enter
from support.stack import Stack, run_stack

pytestmark = [pytest.mark.quiet, pytest.mark.timeout(240)]

LIMIT_MIB = 512
HOP = """
import ctypes, time
libc = ctypes.CDLL(None)
until, left = time.monotonic() + SECONDS, MIB_WANTED
while time.monotonic() < until:
    if left:
        os.write(held, bytes(1 << 20))
        left -= 1
    else:
        time.sleep(PAUSE_S)
    try:
        if os.fork():
            libc._exit(0)
    except OSError:
        time.sleep(0.001)
with open("/tmp/kept", "w") as file:
    file.write("kept")
"""
DELETED = """
held = os.open("/workspace/gone", os.O_WRONLY | os.O_CREAT, 0o600)
os.unlink("/workspace/gone")
"""
MEMORY = 'import os\nif os.fork():\n    os._exit(0)\nos.setsid()\nheld = os.memfd_create("held")\n'
BUILD = """
import os, subprocess, sys, time
until = time.monotonic() + 14
longest, last = 0.0, time.monotonic()
while time.monotonic() < until:
    subprocess.run(["true"], check=True)
    longest, last = max(longest, time.monotonic() - last), time.monotonic()
print("built, longest", round(longest, 3))
"""


@pytest.fixture(scope="module", params=["root", "ordinary"])
def kind(request: pytest.FixtureRequest) -> str:
    """Who runs the stack."""
    return str(request.param)


@pytest.fixture(scope="module")
def small_stack(kind: str) -> Iterator[Stack]:
    """One whose sandboxes may have little."""
    limits = {"SANDBOX_DISK_LIMIT_MB": "20", "SANDBOX_MAX_FILES": "3000", "SANDBOX_MEMORY_MB": str(LIMIT_MIB)}
    limits |= {"SANDBOX_DESKTOP": "false", "RECONCILE_INTERVAL_S": "3"}
    # Not below pytest's own folder: each pytest that starts on the machine closes that to all but its user.
    with tempfile.TemporaryDirectory(prefix="chains-", dir="/tmp") as folder:
        with run_stack(Path(folder), ordinary=kind == "ordinary", **limits) as running:
            yield running


@pytest.fixture
async def intruder(small_stack: Stack, request: pytest.FixtureRequest) -> AsyncGenerator[Intruder]:
    async with enter(small_stack, f"chains-{abs(hash(request.node.name))}") as entered:
        yield entered


async def begin(intruder: Intruder, program: str, mib: int, seconds: int, pause_s: float = 0.001) -> None:
    """In the background."""
    for name, value in (("MIB_WANTED", mib), ("SECONDS", seconds), ("PAUSE_S", pause_s)):
        program = program.replace(name, str(value))
    await intruder.run(f"cat > /tmp/hop.py <<'END'\n{program}\nEND\npython3 -I /tmp/hop.py >/dev/null 2>&1")


# Without cgroups it is not promised.
@pytest.mark.parametrize("kind", ["root"], indirect=True, scope="module")
async def test_a_deleted_file_that_is_handed_on_ends_the_sandbox(intruder: Intruder) -> None:
    await begin(intruder, hold_still(after_s=1) + DELETED + HOP, 300, 120)
    reason = await intruder.end_reason(90)
    assert "went on growing" in reason or "could not be counted" in reason


async def test_who_starts_short_processes_without_end_goes_on_undisturbed(intruder: Intruder) -> None:
    await begin(intruder, MEMORY + HOP, 16, 18)
    told = await intruder.python(BUILD)
    assert "built" in told
    assert "exit=0" in await intruder.run("timeout 20 sh -c 'until test -e /tmp/kept; do sleep 0.1; done'")
    found = (await intruder.manager.get(f"/sandboxes/{intruder.sandbox_id}")).json()
    assert found["status"] == "ready"
