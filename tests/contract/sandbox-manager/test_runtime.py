"""One suite for every runtime."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from sandbox_manager.domain.configuration import Configuration, Size
from sandbox_manager.domain.errors import DomainError, EngineUnavailableError, WorkspaceExistsError
from sandbox_manager.domain.sandbox import Identity, Started
from support.engine_filters import MISSING_IMAGE
from support.runtime_labs import Lab
from support.sandboxes import KEYS, START_S, endpoint_client, new_identity, new_pooled, run_inside, spec_of

pytestmark = pytest.mark.timeout(180)
WITH_DOCKER_THOROUGHLY = pytest.mark.parametrize(
    "lab", ["fake", "process", pytest.param("docker", marks=pytest.mark.thorough)], indirect=True
)
"""For what its containers have like any sandbox. Walls, ends and claims are tried with it in the gate too."""


async def start(lab: Lab, identity: Identity) -> Started:
    async with asyncio.timeout(START_S):
        return await lab.runtime.start_sandbox(spec_of(identity))


def keep_token(identity: Identity, *, generation: int | None = None) -> str:
    now = datetime.now(UTC)
    known = replace(identity, generation=generation or identity.generation)
    return KEYS.sign(known, ["keep"], now, now + timedelta(minutes=1))


async def test_a_sandbox_starts_answers_tells_what_it_uses_and_leaves_nothing_when_removed(lab: Lab) -> None:
    identity = new_identity()
    assert await lab.runtime.usage(identity) is None
    started = await start(lab, identity)

    assert await lab.answers(identity, started)
    assert lab.left(identity)
    usage = await lab.runtime.usage(identity)
    assert usage is not None
    if lab.runtime.name != "fake":
        assert (usage.memory_bytes or 0) > 1_000_000
        assert usage.memory_limit_bytes == 1024 * 1024 * 1024
        assert (usage.cpu_s or 0) > 0
        assert (usage.pids or 0) > 0

    await lab.runtime.remove(identity, keep_workspace=False)
    assert lab.left(identity) == []
    assert await lab.runtime.found() == []
    # Neither again nor for what never was it is an error.
    await lab.runtime.remove(identity, keep_workspace=False)
    await lab.runtime.remove(new_identity(), keep_workspace=False)


@WITH_DOCKER_THOROUGHLY
async def test_a_sandbox_of_another_size_is_held_to_it_and_those_beside_it_to_theirs(lab: Lab) -> None:
    if lab.runtime.name == "fake":
        return  # nothing runs in it
    size = Size(cpus=0.5, memory_mb=512, disk_mb=100)
    chosen, usual = new_identity(), new_identity()
    spec = replace(spec_of(chosen), configuration=Configuration(size_name="small", size=size))
    async with asyncio.timeout(START_S):
        started = await lab.runtime.start_sandbox(spec)
    await start(lab, usual)
    await lab.answers(chosen, started)

    async with endpoint_client(started, chosen) as client:
        body = {"call_id": "write", "arguments": {"path": "big", "content": "x"}}
        written = await client.post("/tools/file_write", json=body)
    assert '"success":true' in written.text, written.text
    own, others = await lab.runtime.usage(chosen), await lab.runtime.usage(usual)
    assert own is not None
    assert others is not None
    assert (own.memory_limit_bytes, others.memory_limit_bytes) == (512 << 20, 1024 << 20)


async def test_an_image_that_no_sandbox_can_be_made_from_is_said_to_be(lab: Lab) -> None:
    if lab.runtime.name == "fake":
        return  # it has no images
    trouble = await lab.runtime.image_trouble(MISSING_IMAGE)
    assert trouble is not None
    assert MISSING_IMAGE in trouble
    assert "no images" in trouble if lab.runtime.name == "process" else "missing" in trouble


@WITH_DOCKER_THOROUGHLY
async def test_a_sandbox_speaks_mcp(lab: Lab) -> None:
    if lab.runtime.name == "fake":
        return  # nothing runs in it
    identity = new_identity()
    started = await start(lab, identity)
    await lab.answers(identity, started)
    told = {"Accept": "application/json, text/event-stream"}
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "shell_exec", "arguments": {"command": "echo $((6 * 7))"}}
    async with endpoint_client(started, identity) as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}
        opened = await client.post("/mcp", json=body, headers=told)
        assert opened.status_code == 200, opened.text
        told |= {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        answer = await client.post("/mcp", json=body, headers=told)
    assert '"text":"42\\n"' in answer.text, answer.text


@WITH_DOCKER_THOROUGHLY
async def test_kernels_run_code_within_the_walls_of_a_sandbox(lab: Lab) -> None:
    if lab.runtime.name == "fake":
        return  # nothing runs in it
    identity = new_identity()
    started = await start(lab, identity)
    await lab.answers(identity, started)
    code = (
        "import multiprocessing as m, os\np = m.get_context('fork').Process(target=print, args=(6 * 7,))\np.start()\n"
    )
    call = {
        "call_id": "code",
        "arguments": {"code": f"{code}p.join()\nos.getcwd(), os.environ['HOME']", "timeout_s": 30},
    }
    async with endpoint_client(started, identity) as client:
        answer = await client.post("/tools/code_run", json=call)
    assert "('/workspace', '/home/agent')" in answer.text, answer.text
    assert '"success":true' in answer.text


async def test_a_sandbox_answers_who_watches_over_it_and_nobody_else(lab: Lab) -> None:
    identity = new_identity()
    started = await start(lab, identity)
    await lab.answers(identity, started)

    report = await lab.runtime.keep_alive(identity, started.endpoint, keep_token(identity))

    assert report.unused_s >= 0
    with pytest.raises(EngineUnavailableError):
        await lab.runtime.keep_alive(new_identity(), started.endpoint, keep_token(identity))
    if lab.runtime.name == "fake":
        return  # nothing runs in it
    assert report.unused_s < 30
    for wrong in (keep_token(identity, generation=9), "nonsense"):
        with pytest.raises(EngineUnavailableError):
            await lab.runtime.keep_alive(identity, started.endpoint, wrong)
    # A command that runs is use though nobody listens.
    async with endpoint_client(started, identity) as client:
        body = {"call_id": "c1", "arguments": {"command": "sleep 60", "timeout_s": 1, "keep_running": True}}
        await client.post("/tools/shell_exec", json=body)
    assert (await lab.runtime.keep_alive(identity, started.endpoint, keep_token(identity))).unused_s == 0


async def test_a_runtime_that_can_start_sandboxes_says_so(lab: Lab) -> None:
    await lab.runtime.check()


@WITH_DOCKER_THOROUGHLY
async def test_what_runs_or_is_paused_is_found_with_its_whole_identity(lab: Lab) -> None:
    one, two = new_identity(generation=3), new_identity()
    started = await start(lab, one)
    await start(lab, two)
    assert await states(lab) == {one: (True, False), two: (True, False)}

    for identity in (one, one, two):
        await lab.runtime.pause(identity)
    assert await states(lab) == {one: (True, True), two: (True, True)}

    await lab.runtime.resume(one)
    await lab.runtime.resume(one)
    assert await states(lab) == {one: (True, False), two: (True, True)}
    assert await lab.answers(one, started)
    await lab.runtime.remove(two, keep_workspace=False)
    assert lab.left(two) == []


async def states(lab: Lab) -> dict[Identity, tuple[bool, bool]]:
    """Whether each that is found runs, and is paused."""
    return {thing.identity: (thing.running, thing.paused) for thing in await lab.runtime.found()}


async def test_one_killed_from_outside_is_told_of_and_found_as_not_running_with_a_reason(lab: Lab) -> None:
    identity = new_identity()
    await start(lab, identity)
    async with contextlib.aclosing(lab.runtime.endings()) as endings:
        told = asyncio.ensure_future(anext(endings))
        # Who listens has been heard by the engine a moment after it asked; an end before that is the sweep's.
        await asyncio.wait({told}, timeout=1)

        lab.kill(identity)

        async with asyncio.timeout(30):
            assert await told == identity.sandbox_id
            while (thing := (await lab.runtime.found())[0]).running:
                await asyncio.sleep(0.02)
    assert thing.reason
    for gone in (identity, new_identity()):
        with pytest.raises(EngineUnavailableError):
            await lab.runtime.pause(gone)
        with pytest.raises(EngineUnavailableError):
            await lab.runtime.resume(gone)


async def test_one_whose_tool_api_was_killed_has_ended_though_its_programs_live_on(real_lab: Lab) -> None:
    identity = new_identity()
    started = await start(real_lab, identity)
    assert "exit=0" in await run_inside(started, identity, "setsid sleep 1000 > /dev/null 2>&1 &")
    with pytest.raises(httpx.HTTPError):
        await run_inside(started, identity, "pkill -9 -f tool_api; sleep 1000")
    async with asyncio.timeout(30):
        while (thing := (await real_lab.runtime.found())[0]).running:
            await asyncio.sleep(0.02)
    assert thing.reason
    await real_lab.runtime.remove(identity, keep_workspace=False)
    assert real_lab.left(identity) == []


@WITH_DOCKER_THOROUGHLY
async def test_a_kept_workspace_is_there_for_the_next_generation_and_exchanged_for_no_pooled_one(lab: Lab) -> None:
    old, pooled = new_identity(), new_pooled()
    await lab.write_note(old, await start(lab, old))
    await lab.runtime.remove(old, keep_workspace=True)
    await start(lab, pooled)

    with pytest.raises(WorkspaceExistsError):
        await lab.runtime.assign_workspace(replace(pooled, session_id=old.session_id, user_id="user-1", generation=2))
    await lab.runtime.remove(pooled, keep_workspace=True)
    new = new_identity(old.session_id, generation=2)

    assert await lab.has_note(new, await start(lab, new))
    assert lab.left(pooled) == []
    await lab.runtime.remove(new, keep_workspace=False)
    assert lab.left(new) == []


@WITH_DOCKER_THOROUGHLY
async def test_a_start_that_is_cancelled_can_be_removed_whole_at_any_moment(lab: Lab) -> None:
    for moment in (0.0, 0.05, 0.15, 0.4):
        identity = new_identity()
        task = asyncio.create_task(lab.runtime.start_sandbox(spec_of(identity)))
        await asyncio.wait({task}, timeout=moment)
        task.cancel()
        await asyncio.wait({task})

        await lab.runtime.remove(identity, keep_workspace=False)

        assert lab.left(identity) == []


async def test_managers_of_one_engine_or_folder_name_the_same_place(lab: Lab) -> None:
    assert await lab.runtime.place() == await lab.runtime.place() != ""


async def test_more_processes_or_memory_than_allowed_can_not_be_had(tight_lab: Lab) -> None:
    identity = new_identity()
    started = await start(tight_lab, identity)

    filled = await run_inside(started, identity, "python3 -c \"bytearray(b'x' * 600_000_000)\"")
    assert "exit=0" not in filled
    assert await tight_lab.answers(identity, started)
    script = "import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(20); os._exit(0)"
    forked = await run_inside(started, identity, f'python3 -c "{script}"')
    assert "Resource temporarily unavailable" in forked
    assert await tight_lab.answers(identity, started)

    with pytest.raises(DomainError) as raised:
        await start(tight_lab, identity)
    assert raised.value.detail


async def test_a_pooled_sandbox_takes_its_workspace_to_the_session_it_was_claimed_for(lab: Lab) -> None:
    pooled = new_pooled()
    claimed = replace(pooled, session_id=f"session-{pooled.sandbox_id}", user_id="user-1", generation=1)
    started = await start(lab, pooled)
    rests = (await lab.runtime.keep_alive(pooled, started.endpoint, keep_token(pooled))).resting

    await lab.runtime.assign_workspace(claimed)
    await lab.write_note(claimed, started)
    await lab.runtime.remove(claimed, keep_workspace=True)
    again = new_identity(claimed.session_id, generation=2)
    kept = await lab.has_note(again, await start(lab, again))
    await lab.runtime.remove(again, keep_workspace=False)

    assert rests
    assert kept
    assert lab.left(pooled) == lab.left(claimed) == lab.left(again) == []


async def test_what_sandboxes_are_made_of_stays_the_same_until_it_changes(lab: Lab) -> None:
    assert await lab.runtime.fingerprint() == await lab.runtime.fingerprint() != ""


@pytest.mark.parametrize("real_lab", ["process", pytest.param("docker", marks=pytest.mark.thorough)], indirect=True)
async def test_what_mcp_servers_and_packages_are_run_by_is_there(real_lab: Lab) -> None:
    identity = new_identity()
    started = await start(real_lab, identity)
    await real_lab.answers(identity, started)

    output = await run_inside(started, identity, "uvx --version && uv --version && python3 -m pip --version")

    assert [line.split()[0] for line in output.splitlines()[:3]] == ["uvx", "uv", "pip"], output
