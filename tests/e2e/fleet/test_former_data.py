"""Two gateways and a manager of this version start at once on the data folder of a former one, which was killed at
work: all of it is there as it was, and goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pymongo
import pytest
import pytest_asyncio

from backend_api.conversations.mongo.migrations import MIGRATIONS
from support.api_client import ApiClient, Json
from support.fleet import Fleet, Shape, run_fleet
from support.former_data import GATEWAY, PASSWORD, Place, as_told, fill_all, told
from support.model_server import Answer, ModelServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

FORMER_VERSION = 1
"""Of the schema."""
CHANGING = {"status", "updated_at", "last_seq", "read_seq", "unread", "sandbox"}
"""What a session says of its state, which goes on."""


@dataclass(frozen=True, slots=True)
class Opened:
    fleet: Fleet
    model: ModelServer
    former: dict[str, Any]
    """What the former version told, by the sessions' ids."""
    anna: ApiClient
    ben: ApiClient
    used: Json
    """What Anna's runs used on each day that has any of the former version's, before a new one begins."""

    def session(self, title: str) -> str:
        (found,) = [session for session, told in self.former.items() if told["session"]["title"] == title]
        return found


async def _logged_in(base_url: str, name: str) -> ApiClient:
    async with ApiClient(base_url) as anonymous:
        answer = await anonymous.json("POST", "/auth/login", json={"username": name, "password": PASSWORD})
    return ApiClient(base_url, answer["access_token"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Opened]:
    folder = tmp_path_factory.mktemp("former")
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ModelServer(Answer(texts=("Here again.",))))
        settings = {
            "LLM_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": model.url,
            "MODELS": "claude-opus-4-6",
            "SANDBOX_DESKTOP": "false",
        }
        fleet = await stack.enter_async_context(
            run_fleet(folder, Shape(gateways=2), settings, fill=lambda fleet: fill_all(fleet.mongo_uri, _place(fleet)))
        )
        anna, ben = [await _logged_in(url, name) for url, name in zip(fleet.urls, ("anna", "ben"), strict=True)]
        await stack.enter_async_context(anna)
        await stack.enter_async_context(ben)
        former = told(_place(fleet))
        days = sorted(event["at"][:10] for one in former.values() for event in one["events"])
        asked = {"since": days[0], "until": days[-1], "by": "session", "limit": 200}
        used = await anna.json("GET", "/usage", params=asked)
        yield Opened(fleet, model, former, anna, ben, used)
        assert model.refusals == []


def _place(fleet: Fleet) -> Place:
    return Place(folder=fleet.folder, stack=fleet.stack)


async def test_each_change_is_made_once_by_the_gateways_that_start_at_once(opened: Opened) -> None:
    lines = [json.loads(line) for one in opened.fleet.kind("gateway") for line in one.log.read_text().splitlines()]
    changed = [line["version"] for line in lines if line["message"] == "data is changed"]
    assert changed == list(range(FORMER_VERSION + 1, len(MIGRATIONS) + 1))
    with pymongo.MongoClient[dict[str, Any]](opened.fleet.mongo_uri) as client:
        assert list(client[GATEWAY]["schema"].find()) == [{"_id": "version", "version": len(MIGRATIONS)}]


async def test_the_runs_at_work_are_taken_up_and_end(opened: Opened) -> None:
    session, after = opened.session("In a command"), 0
    while True:
        events = await opened.anna.until(session, "run.finished", after=after)
        if events[-1]["status"] == "completed":
            break
        after = events[-1]["seq"]
    ended = [event for event in await opened.anna.stored_events(session) if event["type"] == "tool.finished"]
    assert [(event["success"], "may have happened" in event["preview"]) for event in ended] == [(False, True)]
    counted = await opened.anna.http.get(f"/sessions/{session}/files/download", params={"path": "count.txt"})
    assert counted.text == "begun\n"

    answered = await opened.ben.until(opened.session("In an answer"), "run.finished")
    assert answered[-1]["status"] == "completed"
    said = [event["text"] for event in answered if event["type"] == "message.completed"]
    assert said == ["Here again."]


async def test_sessions_and_events_are_shown_as_they_were(opened: Opened) -> None:
    for session, former in opened.former.items():
        api = opened.ben if session == opened.session("In an answer") else opened.anna
        now = await api.json("GET", f"/sessions/{session}")
        told_of_session = {name: value for name, value in former["session"].items() if name not in CHANGING}
        assert as_told(now, told_of_session) == told_of_session
        events = await api.stored_events(session)
        shown = [as_told(event, told) for event, told in zip(events, former["events"], strict=False)]
        assert shown == former["events"]
        for seq, (media_type, digest) in former["bodies"].items():
            whole = await api.http.get(f"/sessions/{session}/events/{seq}/body")
            assert (whole.headers["content-type"], hashlib.sha256(whole.content).hexdigest()) == (media_type, digest)
    listed = (await opened.anna.json("GET", "/sessions"))["items"]
    assert [one["title"] for one in listed if one["pinned"]] == ["计划 and a count"]
    assert [one["title"] for one in listed if one["archived"]] == ["Tell me a long story."]


async def test_what_the_runs_used_is_summed_up(opened: Opened) -> None:
    ended = [
        event["usage"]["input"]
        for session, former in opened.former.items()
        if session not in (opened.session("In a command"), opened.session("In an answer"))
        for event in former["events"]
        if event["type"] == "run.finished"
    ]
    at_work = opened.session("In a command")
    total = sum(row["input"] for row in opened.used["items"] if row["session_id"] != at_work)
    assert total == sum(ended) > 0


async def test_a_conversation_goes_on_with_all_that_was_said_in_it(opened: Opened) -> None:
    session = opened.session("计划 and a count")
    asked = len(opened.model.requests)
    events = await opened.anna.ask(session, "What did I ask first?")
    assert events[-1]["status"] == "completed"
    read = json.dumps(opened.model.requests[asked]["messages"], ensure_ascii=False)
    said = ("Write down a plan, and count.", "nine long", "No such file", "It is another one now.", "表.csv")
    assert [text for text in said if text not in read] == []


async def test_files_and_snapshots_are_there_and_one_is_brought_back(opened: Opened) -> None:
    session = opened.session("计划 and a count")
    path = f"/sessions/{session}"

    async def content(file: str) -> str:
        return (await opened.anna.http.get(f"{path}/files/download", params={"path": file})).text

    entries = await opened.anna.json("GET", f"{path}/files")
    assert {entry["name"] for entry in entries} == {"data", "long.txt", "notes"}
    assert (await content("data/表.csv"), await content("notes/plan.md")) == ("a,b\n1,2\n", "changed\n")
    assert len(await content("long.txt")) == 61_000
    for one, former in opened.former.items():
        if former["snapshots"]:
            kept = await opened.anna.json("GET", f"/sessions/{one}/snapshots")
            assert as_told(kept["items"], former["snapshots"]) == former["snapshots"]
    (wanted,) = [one["id"] for one in opened.former[session]["snapshots"] if one["name"] == "With a plan"]
    await opened.anna.json("POST", f"{path}/snapshots/{wanted}/restore")
    assert (await content("data/表.csv"), await content("notes/plan.md")) == (
        "a,b\n1,2\n",
        "# Plan\n\n1. Look\n2. Write\n",
    )


async def test_a_log_in_and_what_it_may_see_are_as_they_were(opened: Opened) -> None:
    me: Json = await opened.anna.json("GET", "/auth/me")
    assert (me["username"], me["is_admin"]) == ("anna", True)
    assert {one["title"] for one in (await opened.ben.json("GET", "/sessions"))["items"]} == {"In an answer"}
    assert (await opened.ben.http.get(f"/sessions/{opened.session('Stopped')}")).status_code == 404
