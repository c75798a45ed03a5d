"""A hostile process in a real sandbox against upkeep: marks of others, invented ones, trees without end."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from pathlib import Path

import httpx
import psutil
import pytest

from support.intruder import Intruder, enter
from support.stack import Stack

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(600)]

SWEEP_S = 5.0
REMOVED_S = 150.0
NESTED_S = 200.0
MARKED = 200
DEPTH = 4_000

# Each child is /bin/sleep with a mark of its own choosing; they stay when this program ends.
WEAR_MARKS = """
import os, secrets
marks = {marks!r}
marks += [f"{stack}/{{secrets.token_hex(8)}}/s{{n}}/u/1" for n in range({count})]
worn = 0
for mark in marks:
    try:
        os.posix_spawn("/bin/sleep", ["sleep", "300"], {{"AGENT_SANDBOX_MARK": mark}}, setsid=True)
    except OSError:
        break
    worn += 1
print("worn", worn)
"""

NEST = """
import os
for where in ("/workspace", "/workspace/.agent-restore"):
    os.makedirs(where, exist_ok=True)
    at = os.open(where, os.O_RDONLY)
    for _ in range({depth}):
        os.mkdir("d" * 255, dir_fd=at)
        inner = os.open("d" * 255, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
for n in range(50):
    os.makedirs(f"/workspace/shut/{{n}}/inner")
    os.chmod(f"/workspace/shut/{{n}}", 0)
os.chmod("/workspace/shut", 0)
os.symlink("..", "/workspace/up")
os.mkdir("/workspace/nested")
"""


@pytest.fixture(params=["root", "ordinary"])
def any_stack(request: pytest.FixtureRequest) -> Stack:
    return request.getfixturevalue("stack" if request.param == "root" else "ordinary_stack")


def name_of(stack: Stack) -> str:
    return psutil.Process(stack.children()["manager"]).environ()["COMPOSE_PROJECT_NAME"]


async def sweeps(manager: httpx.AsyncClient) -> tuple[float, float]:
    """How many there were, and the seconds all of them took."""
    told = (await manager.get("/metrics")).raise_for_status().text
    found = [
        re.search(rf"^sandbox_reconcile_seconds_{what}\S* (\S+)$", told, re.MULTILINE) for what in ("count", "sum")
    ]
    count, seconds = (float(one[1]) if one else 0.0 for one in found)
    return count, seconds


async def seconds_of_sweeps(manager: httpx.AsyncClient, wanted: int = 2) -> float:
    """What the next sweeps take, each."""
    began, spent = await sweeps(manager)
    async with asyncio.timeout(120):
        while (now := await sweeps(manager))[0] < began + wanted + 1:  # one may be going on
            await asyncio.sleep(0.1)
    return (now[1] - spent) / (now[0] - began)


async def wear(intruder: Intruder, stack: Stack, marks: list[str]) -> None:
    told = await intruder.python(WEAR_MARKS.format(marks=marks, stack=name_of(stack), count=MARKED))
    assert int(told.partition("worn ")[2].split()[0]) > 100, told


async def test_no_mark_made_inside_orders_anything(any_stack: Stack) -> None:
    """It made the sweep remove `live/..`: everybody's workspaces and snapshots. Invented ones made it take for ever."""
    session_id = f"victim-{secrets.token_hex(4)}"
    held, name = any_stack.data_dir / "sandboxes", name_of(any_stack)
    async with enter(any_stack, session_id, "victim") as victim, enter(any_stack, "marked") as intruder:
        assert "exit=0" in await victim.run("echo mine > /workspace/note")
        taken = await victim.manager.post(
            f"/workspaces/{session_id}/snapshots", params={"user_id": "victim"}, json={"name": "kept"}
        )
        assert taken.status_code == 201, taken.text
        quiet = {path.relative_to(held) for path in held.glob("*/*")}

        of_victim = f"{name}/{victim.sandbox_id}/{session_id}/victim/1"
        outward = [f"{name}/{told}/{told}/u/1" for told in ("..", ".", "", "../..", "..\n", "pool...", "%2e%2e")]
        await wear(intruder, any_stack, [*outward, of_victim, f"{name}/{victim.sandbox_id}/../victim/1"])
        took = await seconds_of_sweeps(victim.manager)

        assert took < SWEEP_S
        assert quiet <= {path.relative_to(held) for path in held.glob("*/*")}
        assert "mine" in await victim.run("cat /workspace/note")
        still = await victim.manager.get(f"/workspaces/{session_id}/snapshots", params={"user_id": "victim"})
        assert [one["name"] for one in still.json()["items"]] == ["kept"]
        assert (await intruder.manager.get(f"/sandboxes/{intruder.sandbox_id}")).json()["status"] == "ready"

        # With its mark worn by somebody else it can be removed all the same, and nobody else is ended for it.
        async with asyncio.timeout(30):
            removed = await victim.manager.delete(f"/workspaces/{session_id}", params={"user_id": "victim"})
        assert removed.status_code == 204, removed.text
        assert not (held / "workspaces" / session_id).exists()
        assert int((await intruder.run("pgrep -c sleep")).split()[0]) > 100


async def test_a_tree_without_end_is_removed_and_holds_up_nobody(any_stack: Stack) -> None:
    """1,500 nested folders made every removal fail, so that the files of a deleted session stayed."""
    session_id, another = f"deep-{secrets.token_hex(4)}", f"upkeep-{secrets.token_hex(4)}"
    held = any_stack.data_dir / "sandboxes"
    async with enter(any_stack, session_id) as intruder, enter(any_stack, another, "beside") as beside:
        await intruder.begin(NEST.format(depth=DEPTH))
        # A sandbox yields the processors to everybody else, which on a busy machine takes it a while.
        async with asyncio.timeout(NESTED_S):
            while not (held / "workspaces" / session_id / "nested").exists():
                await asyncio.sleep(0.1)
        who = {"user_id": "intruder"}

        refused = await intruder.manager.post(f"/workspaces/{session_id}/snapshots", params=who, json={"name": "deep"})
        assert refused.status_code == 409, refused.text
        removed = await intruder.manager.delete(f"/workspaces/{session_id}", params=who)
        assert removed.status_code in {204, 503}, removed.text
        took = await seconds_of_sweeps(beside.manager)

        assert took < 2 * SWEEP_S
        assert "exit=0" in await beside.run("echo works")
        async with asyncio.timeout(REMOVED_S):
            while remains(held, session_id):
                await asyncio.sleep(0.1)


def remains(held: Path, session_id: str) -> list[str]:
    found = [name for name in os.listdir(held / "gone") if session_id in name]
    return found + [str(path) for path in held.glob(f"*/{session_id}")]
