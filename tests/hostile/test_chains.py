"""A deleted file that is handed on from process to process, each of which ends at once: it counts."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from support.hostile_programs import hold_still
from support.intruder import Intruder, enter
from support.stack import Stack, run_stack

pytestmark = [pytest.mark.quiet, pytest.mark.timeout(240)]

HOP = """
import ctypes, time
libc = ctypes.CDLL(None)
until, left = time.monotonic() + 120, 300
while time.monotonic() < until:
    if left:
        os.write(held, bytes(1 << 20))
        left -= 1
    else:
        time.sleep(0.001)
    try:
        if os.fork():
            libc._exit(0)
    except OSError:
        time.sleep(0.001)
"""
DELETED = """
held = os.open("/workspace/gone", os.O_WRONLY | os.O_CREAT, 0o600)
os.unlink("/workspace/gone")
"""


@pytest.fixture(scope="module", params=["root", "ordinary"])
def kind(request: pytest.FixtureRequest) -> str:
    """Who runs the stack."""
    return str(request.param)


@pytest.fixture(scope="module")
def small_stack(kind: str) -> Iterator[Stack]:
    """One whose sandboxes may have little."""
    limits = {"SANDBOX_DISK_LIMIT_MB": "20", "SANDBOX_TUNING": "files=3000,sweep-ms=3000"}
    limits |= {"SANDBOX_DESKTOP": "false"}
    # Not below pytest's own folder: each pytest that starts on the machine closes that to all but its user.
    with tempfile.TemporaryDirectory(prefix="chains-", dir="/tmp") as folder:
        with run_stack(Path(folder), ordinary=kind == "ordinary", **limits) as running:
            yield running


@pytest.fixture
async def intruder(small_stack: Stack, request: pytest.FixtureRequest) -> AsyncGenerator[Intruder]:
    async with enter(small_stack, f"chains-{abs(hash(request.node.name))}") as entered:
        yield entered


async def test_a_deleted_file_that_is_handed_on_ends_the_sandbox(intruder: Intruder) -> None:
    program = hold_still(after_s=1) + DELETED + HOP
    await intruder.run(f"cat > /tmp/hop.py <<'END'\n{program}\nEND\npython3 -I /tmp/hop.py >/dev/null 2>&1")
    reason = await intruder.end_reason(90)
    assert "went on growing" in reason or "could not be counted" in reason
