"""The product's main job through the gateway: one conversation, one computer, files one can have."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from support.api_client import ApiClient
from support.stack import Stack

Json = dict[str, Any]


def of_type(events: list[Json], kind: str) -> list[Json]:
    return [event for event in events if event["type"] == kind]


async def test_the_tour_runs_a_command_writes_a_file_and_opens_a_page(desktop_stack: Stack) -> None:
    async with ApiClient(desktop_stack.base_url) as api:
        session = await api.new_session()
        events = await api.ask(session, "Show me what you can do")

        end = events[-1]
        assert end["status"] == "completed", end
        calls = {event["call_id"]: event["name"] for event in of_type(events, "tool.called")}
        assert {"shell_exec", "file_write", "browser_navigate"} <= set(calls.values())
        failed = [(calls[e["call_id"]], e["preview"]) for e in of_type(events, "tool.finished") if not e["success"]]
        assert failed == []
        assert "demo" in of_type(events, "message.completed")[0]["text"].lower()

        written = [path for event in of_type(events, "files.changed") for path in event["paths"]]
        assert written
        download = await api.http.get(f"/sessions/{session}/files/download", params={"path": written[0]})
        assert download.status_code == 200
        assert download.content
        preview = await api.json("GET", f"/sessions/{session}/files/content", params={"path": written[0]})
        assert preview["content"].encode() == download.content


@pytest.mark.thorough
async def test_a_folder_downloads_as_a_zip_and_uploads_appear_beside_the_agents_files(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "write a file out/hello.txt with good morning")
        uploaded = await api.json(
            "POST",
            f"/sessions/{session}/files",
            params={"subdir": "out"},
            files=[("files", ("图表.csv", b"a,b\n1,2\n", "text/csv"))],
            expect=201,
        )
        assert uploaded == {"uploaded": ["out/图表.csv"]}
        archive = await api.http.get(f"/sessions/{session}/files/download", params={"path": "out"})
        with zipfile.ZipFile(io.BytesIO(archive.content)) as zipped:
            names = {name.rsplit("/", 1)[-1] for name in zipped.namelist() if not name.endswith("/")}
        assert names == {"hello.txt", "图表.csv"}


async def test_the_stream_is_one_sequence_without_holes_and_matches_the_stored_history(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run echo one && echo two")
        stored = await api.stored_events(session)
        assert [event["seq"] for event in stored] == list(range(1, len(stored) + 1))
        replayed = await api.until(session, "run.finished")
        assert [event for event in replayed if event["seq"]] == stored[: len(replayed)]
        shell = next(event for event in stored if event["type"] == "tool.finished")
        assert shell["success"]
        assert "two" in shell["preview"]


async def test_two_sessions_have_computers_that_do_not_see_each_other(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        first, second = await api.new_session(), await api.new_session()
        await api.ask(first, "write a file secret.txt with only for the first")
        await api.ask(second, "run ls -a /workspace; hostname")
        listing = await api.json("GET", f"/sessions/{second}/files", params={"path": ""})
        assert [entry["name"] for entry in listing if entry["name"] == "secret.txt"] == []
        missing = await api.http.get(f"/sessions/{second}/files/download", params={"path": "secret.txt"})
        assert missing.status_code == 404


async def test_deleting_a_session_removes_its_computer_and_its_history(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run touch kept")
        await api.json("DELETE", f"/sessions/{session}", expect=204)
        for path in ("", "/state", "/events?format=json", "/files?path="):
            assert (await api.http.get(f"/sessions/{session}{path}")).status_code == 404
