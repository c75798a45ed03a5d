"""Gateway and worker are killed while papers are kept, sections are written and a document is made: the run goes on or
says what did not happen, no record and no change is there twice, and a document comes whole."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.api_client import ApiClient, Json, register
from support.chaos.settings import crashes, trial_settings
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import Answer, Call, ModelServer
from support.research.fake_sources import Fakes, fake_sources
from support.research.known_papers import KNOWN
from support.scripted_stack import of_type

SHAPE = Shape(gateways=1, workers=1, managers=1)
WITHIN_S = 120.0
PAPERS = [one for one in KNOWN if one.doi][:3]
TITLES = ("One", "Two", "Three")
_PROJECT = re.compile(r"prj_[0-9a-f]{20}")


def call(number: int, name: str, **arguments: Any) -> Answer:
    made = Call(name=name, id=f"call_{number}", arguments=json.dumps(arguments))
    return Answer(texts=(), calls=(made,), usage=(10, 4, 2))


def respond(request: Json) -> Answer:
    """Keeps each paper, writes each section, then does it all again, as a model would that is not sure of it."""
    messages: list[Json] = request["messages"]
    said = sum(message["role"] == "assistant" for message in messages)
    found = _PROJECT.findall(json.dumps(messages))
    project = found[-1] if found else ""
    steps: list[Callable[[], Answer]] = [
        lambda: call(said, "project_create", title="A study"),
        lambda: call(said, "outline_set", project=project, outline=[{"title": title} for title in TITLES]),
    ]
    for _ in range(2):
        for one in PAPERS:
            steps.append(lambda one=one: call(said, "corpus_add", id=one.doi))
        for number, title in enumerate(TITLES, 1):
            steps.append(
                lambda number=number, title=title: call(
                    said, "section_write", project=project, section=f"s{number}", text=f"{title} is written."
                )
            )
    return steps[said]() if said < len(steps) else Answer(texts=("It is done.",), usage=(10, 4, 2))


@pytest.mark.timeout(300)
async def test_no_record_and_no_text_is_lost_or_there_twice(tmp_path: Path) -> None:
    async with fake_sources() as fakes, ModelServer(respond=respond) as model:
        settings = trial_settings(model.openai_url) | {
            "FETCH_ALLOWED_HOSTS": ",".join(fakes.hosts),
            "RESEARCH_SOURCE_URLS": ",".join(f"{name}={url}" for name, url in fakes.urls.items() if name != "files"),
        }
        async with run_fleet(tmp_path, SHAPE, settings, runtime="fake") as fleet:
            async with await register(fleet.urls[0], "person") as api:
                project = await written_under_kills(fleet, api, fakes)
                await exported_under_kills(fleet, api, project)
            assert not model.refusals
            assert not crashes(fleet)


async def written_under_kills(fleet: Fleet, api: ApiClient, fakes: Fakes) -> str:
    session = await api.new_session(title="named")
    await api.send(session, "@papers @writing write it")
    for name, count in (("corpus_add", 2), ("section_write", 2)):
        await until_called(api, session, name, count)
        await killed(fleet)
    end = (await api.until(session, "run.finished", timeout_s=WITHIN_S))[-1]
    assert end["status"] == "completed", end
    events = await api.stored_events(session)
    called = [event["call_id"] for event in of_type(events, "tool.called")]
    assert len(called) == len(set(called)) == 2 + 2 * (len(PAPERS) + len(TITLES))
    finished = of_type(events, "tool.finished")
    assert sorted(event["call_id"] for event in finished) == sorted(called), "each says what came of it, once"
    corpus = await api.json("GET", "/corpus")
    assert sorted(one["doi"] for one in corpus["items"]) == sorted(one.doi for one in PAPERS)
    (listed,) = (await api.json("GET", "/writing"))["items"]
    project = await api.json("GET", f"/writing/{listed['id']}")
    assert [one["text"] for one in project["sections"]] == [f"{title} is written." for title in TITLES]
    for number in range(1, len(TITLES) + 1):
        revisions = await api.json("GET", f"/writing/{listed['id']}/revisions", params={"part": f"s{number}"})
        assert [one["change"] for one in revisions["items"]] == ["written"]
    return str(listed["id"])


async def exported_under_kills(fleet: Fleet, api: ApiClient, project: str) -> None:
    path = f"/writing/{project}/export"
    work = asyncio.create_task(api.http.post(path, params={"format": "pdf"}))
    await asyncio.sleep(0.2)
    fleet["gateway-1"].kill()
    try:
        answer = await work
        assert answer.status_code == 200
        assert answer.content.startswith(b"%PDF-")
    except httpx.TransportError:
        pass  # nothing came: a document is never cut
    fleet["gateway-1"].start()
    await fleet["gateway-1"].up()
    whole = await api.http.post(path, params={"format": "pdf"}, timeout=60)
    assert whole.status_code == 200, whole.text
    assert whole.content.startswith(b"%PDF-")
    assert whole.content.rstrip().endswith(b"%%EOF")


async def killed(fleet: Fleet) -> None:
    for name in ("worker-1", "gateway-1"):
        fleet[name].kill()
    for name in ("worker-1", "gateway-1"):
        fleet[name].start()
    for name in ("worker-1", "gateway-1"):
        await fleet[name].up()


async def until_called(api: ApiClient, session: str, name: str, count: int) -> None:
    after = 0
    while count:
        event = (await api.until(session, "tool.called", after=after, timeout_s=WITHIN_S))[-1]
        count -= event["name"] == name
        after = event["seq"]
