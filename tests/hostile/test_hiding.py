"""Where an ordinary user's manager did not look: page tables, and what only root may look into."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from support.hostile_programs import hold_still
from support.intruder import Intruder, enter
from support.stack import Stack, run_stack

pytestmark = [pytest.mark.quiet, pytest.mark.timeout(240)]

LIMIT_MIB = 1024
# A page of nothing for every 2 MiB: each costs a table of 4 KiB, and no other memory.
TABLES = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
STEP, CHUNK = 2 << 20, 64 << 30
for _ in range(MIB_WANTED // 128):
    at = libc.mmap(None, CHUNK, 1, 0x4022, -1, 0)
    libc.madvise(at, CHUNK, 15)
    at = (at + STEP - 1) & ~(STEP - 1)
    for offset in range(0, CHUNK - 2 * STEP, STEP):
        ctypes.c_char.from_address(at + offset).value
print("all taken", flush=True)
time.sleep(SLEEP_S)
print("kept", flush=True)
"""
UNDUMPABLE = "import ctypes, os, threading, time\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"
MEMFD = (
    UNDUMPABLE
    + """
def hold():
    OWN_TABLE
    held = os.memfd_create("held")
    for _ in range(MIB_WANTED // 4):
        os.write(held, bytes(4 << 20))
    print("all taken", flush=True)
    time.sleep(SLEEP_S)
    print("kept", flush=True)
thread = threading.Thread(target=hold)
thread.start()
thread.join()
"""
)
# It fills what is deleted, where nobody inside counts any more.
FILL = (
    hold_still(after_s=3)
    + UNDUMPABLE
    + """
held = os.open("/workspace/gone", os.O_WRONLY | os.O_CREAT, 0o600)
os.unlink("/workspace/gone")
while True:
    os.write(held, b"x" * (2 << 20))
    time.sleep(0.2)
"""
)


@pytest.fixture(scope="module")
def small_stack() -> Iterator[Stack]:
    """An ordinary user's, whose sandboxes may have little."""
    limits = {"SANDBOX_DISK_LIMIT_MB": "20", "SANDBOX_MAX_FILES": "3000", "SANDBOX_MEMORY_MB": str(LIMIT_MIB)}
    # Not below pytest's own folder: each pytest that starts on the machine closes that to all but its user.
    with tempfile.TemporaryDirectory(prefix="hiding-", dir="/tmp") as folder:
        with run_stack(Path(folder), ordinary=True, **limits) as running:
            yield running


@pytest.fixture
async def intruder(small_stack: Stack, request: pytest.FixtureRequest) -> AsyncGenerator[Intruder]:
    async with enter(small_stack, f"hiding-{abs(hash(request.node.name))}") as entered:
        yield entered


def sized(program: str, mib: int, sleep_s: float = 30) -> str:
    return program.replace("MIB_WANTED", str(mib)).replace("SLEEP_S", str(sleep_s))


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(TABLES, id="page-tables"),
        pytest.param(MEMFD.replace("OWN_TABLE", "pass"), id="undumpable"),
        pytest.param(MEMFD.replace("OWN_TABLE", "ctypes.CDLL(None).unshare(0x400)"), id="undumpable-threads-own"),
    ],
)
async def test_hidden_memory_counts_and_its_holder_ends(intruder: Intruder, program: str) -> None:
    told = await intruder.python(sized(program, LIMIT_MIB + LIMIT_MIB // 2))
    assert "kept" not in told, "it kept half more than it may have"
    assert "alive" in await intruder.run("echo alive"), "the rest of the sandbox goes on"


@pytest.mark.parametrize("program", [TABLES, MEMFD.replace("OWN_TABLE", "pass")], ids=["page-tables", "undumpable"])
async def test_within_the_limit_nobody_ends(intruder: Intruder, program: str) -> None:
    assert "kept" in await intruder.python(sized(program, LIMIT_MIB // 4, 12))


async def test_a_deleted_file_of_an_undumpable_process_counts(intruder: Intruder) -> None:
    await intruder.run(f"cat > /tmp/fill.py <<'END'\n{FILL}\nEND\npython3 -I /tmp/fill.py >/dev/null 2>&1")
    reason = await intruder.end_reason(100)
    assert "went on growing" in reason or "could not be counted" in reason
