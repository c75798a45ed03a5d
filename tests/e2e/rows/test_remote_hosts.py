"""Conversations on a remote host, by a real `sshd`: asked first, run, files, stop and a key that changed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from support.api_client import ApiClient, Json
from support.scripted_stack import Scripted, begin, call, calls, of_type, said_in, tools_of
from support.sshd import NoSshdError, Sshd, run_sshd

pytestmark = pytest.mark.asyncio(loop_scope="session")
STOPPED_S = 1.0


@pytest_asyncio.fixture(loop_scope="session")
async def sshd(tmp_path: Path) -> AsyncGenerator[Sshd]:
    try:
        async with run_sshd(tmp_path) as one:
            yield one
    except NoSshdError as error:
        pytest.skip(f"no real sshd: {error}")


async def confirmed(api: ApiClient, sshd: Sshd) -> str:
    """The id of a computer that is ready."""
    host = {"name": "Build", "host": "127.0.0.1", "port": sshd.port, "username": sshd.username, "folder": "~/builds"}
    target = await api.json("POST", "/targets", json=host, expect=201)
    sshd.authorize(target["public_key"])
    path = f"/targets/{target['id']}"
    trial = await api.json("POST", f"{path}/test")
    await api.json("PATCH", path, json={"confirmed_fingerprint": trial["host_key"]["fingerprint"]})
    assert (await api.json("POST", f"{path}/test"))["ok"]
    return target["id"]


def is_alive(marker: str) -> bool:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                if marker.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    return True
            except OSError:
                continue
    return False


def result(events: list[Json]) -> Json:
    return of_type(events, "tool.finished")[-1]


async def test_it_asks_first_and_works_by_shell_and_files(scripted: Scripted, api: ApiClient, sshd: Sshd) -> None:
    session = await api.new_session(title="named", target_id=await confirmed(api, sshd))
    # Not chosen any more, it is what a remote host has by default.
    await api.json("PATCH", f"/sessions/{session}", json={"options": {"enable_approval": None}})
    scripted.answer(calls(call("shell_exec", command="pwd; echo made > a.txt")), calls(call("file_read", path="a.txt")))
    asked = await begin(api, session, "make it", "approval.requested")
    assert not (sshd.home / "builds/a.txt").exists()
    offered = set(tools_of(scripted.last()))
    assert {"shell_exec", "file_read"} <= offered
    assert not {name for name in offered if name.startswith(("browser_", "desktop_", "code_"))}
    assert f"{sshd.username}@127.0.0.1" in said_in(scripted.last())
    await api.json("POST", f"/sessions/{session}/approvals/{asked['approval_id']}", json={"decision": "approve"})
    events = await api.until(session, "run.finished", after=asked["seq"])
    assert events[-1]["status"] == "completed"
    assert result(events)["success"]
    assert "made" in said_in(scripted.last())
    assert (sshd.home / "builds/a.txt").read_text() == "made\n"
    assert [entry["name"] for entry in await api.json("GET", f"/sessions/{session}/files")] == ["a.txt"]
    state = await api.json("GET", f"/sessions/{session}/sandbox")
    assert (state["status"], state["has_desktop"]) == ("ready", False)
    everything = str(await api.stored_events(session))
    assert "PRIVATE KEY" not in everything


async def test_a_stop_reaches_the_process_group_there(scripted: Scripted, api: ApiClient, sshd: Sshd) -> None:
    options = {"enable_approval": False}
    session = await api.new_session(title="named", target_id=await confirmed(api, sshd), options=options)
    marker = f"stopped-run-{os.getpid()}"
    scripted.answer(calls(call("shell_exec", command=f"echo on; python3 -c 'import time; time.sleep(600)' {marker}")))
    started = await begin(api, session, "wait", "tool.output")
    while not is_alive(marker):
        await asyncio.sleep(0.02)
    began = time.monotonic()
    await api.json("POST", f"/sessions/{session}/stop", expect=202)
    while is_alive(marker):
        assert time.monotonic() - began < STOPPED_S
        await asyncio.sleep(0.01)
    events = await api.until(session, "run.finished", after=started["seq"] or 0)
    assert events[-1]["status"] == "stopped"


async def test_a_changed_key_or_a_deleted_computer_says_what_and_why(
    scripted: Scripted, api: ApiClient, sshd: Sshd
) -> None:
    target = await confirmed(api, sshd)
    session = await api.new_session(title="named", target_id=target)
    await sshd.stop()
    sshd.make_host_key()
    await sshd.start()
    refused = await api.json("GET", f"/sessions/{session}/files", expect=409)
    assert refused["code"] == "remote_host_key_changed"
    scripted.answer(calls(call("file_list")))
    events = await api.ask(session, "look")
    assert "presented a different host key than the confirmed one" in str(events)
    await api.json("DELETE", f"/targets/{target}", expect=204)
    gone = await api.json("GET", f"/sessions/{session}/files", expect=409)
    assert gone["code"] == "target_gone"
