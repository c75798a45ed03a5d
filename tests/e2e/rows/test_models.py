"""Which model is asked, how, and what is told of it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from support.api_client import ApiClient
from support.model_server import Answer
from support.scripted_stack import (
    HELPERS,
    INSTEAD,
    PRICED,
    SUMMARIES,
    TITLES,
    Scripted,
    call,
    calls,
    of_type,
    said_in,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def titled(api: ApiClient, session: str, title: str) -> list[dict[str, Any]]:
    """All events once it is called so."""
    async with asyncio.timeout(20):
        while (await api.json("GET", f"/sessions/{session}"))["title"] != title:
            await asyncio.sleep(0.05)
    return await api.stored_events(session)


async def test_a_conversation_goes_on_with_another_model_in_the_middle(scripted: Scripted, api: ApiClient) -> None:
    offered = [model["id"] for model in await api.json("GET", "/models")]
    assert offered[0] == scripted.default
    assert PRICED in offered
    session = await api.new_session(title="named", options={"enable_thinking": True})
    scripted.answer(Answer(thinking=("hm",), texts=("I look.",), calls=[call("utc_now")]))
    assert (await api.ask(session, "what time is it"))[-1]["status"] == "completed"
    await api.json("PATCH", f"/sessions/{session}", json={"model": PRICED})
    assert (await api.ask(session, "and now"))[-1]["status"] == "completed"
    assert [request["model"] for request in scripted.model.requests] == [scripted.default, scripted.default, PRICED]
    assert "what time is it" in said_in(scripted.last())
    refused = await api.json("PATCH", f"/sessions/{session}", json={"model": "nonesuch"}, expect=422)
    assert refused["errors"][0]["field"] == "body.model"


async def test_another_model_answers_where_the_chosen_one_fails_before_its_first_byte(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(Answer(status=503), Answer(status=503), Answer(texts=("Instead.",)))
    events = await api.ask(session, "hello")
    assert events[-1]["status"] == "completed"
    assert [request["model"] for request in scripted.model.requests] == [scripted.default, scripted.default, INSTEAD]
    assert of_type(events, "notice")
    scripted.answer(Answer(texts=("Half", " of", " it"), cut_after=3))
    assert (await api.ask(session, "again"))[-1]["status"] == "failed", "what began is not begun anew by another"


async def test_titles_summaries_and_agents_below_have_models_of_their_own(scripted: Scripted, api: ApiClient) -> None:
    scripted.model.title = Answer(texts=("Of a model",))
    session = await api.new_session()
    task = call("task", description="look", prompt="look at it", agent_type="general")
    scripted.answer(calls(task), Answer(texts=("Looked.",)), Answer(texts=("Done.",)))
    await api.ask(session, "look at it")
    await titled(api, session, "Of a model")
    scripted.answer(Answer(status=413, message="Payload Too Large"), Answer(texts=("They want it looked at.",)))
    await api.ask(session, "and now")
    asked = [request["model"] for request in scripted.model.requests]
    assert asked == [scripted.default, HELPERS, *[scripted.default] * 2, SUMMARIES, scripted.default]
    assert [request["model"] for request in scripted.model.title_requests] == [TITLES]


async def test_a_passing_fault_is_waited_for_as_long_as_the_provider_says_and_only_before_the_first_byte(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(Answer(status=429, headers={"Retry-After": "1"}))
    began = time.monotonic()
    assert (await api.ask(session, "hello"))[-1]["status"] == "completed"
    assert time.monotonic() - began >= 1
    assert [request["model"] for request in scripted.model.requests] == [scripted.default] * 2
    scripted.answer(Answer(texts=("Half", " of", " it"), cut_after=3))
    events = await api.ask(session, "again")
    assert (events[-1]["status"], events[-1]["retryable"]) == ("failed", True)
    assert len(scripted.model.requests) == 3
    assert of_type(events, "message.completed")[0]["partial"]


async def test_thinking_is_asked_for_shown_and_sent_back(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named", options={"enable_thinking": True, "thinking_effort": "max"})
    scripted.answer(Answer(thinking=("So", " many"), texts=("I look.",), calls=[call("utc_now")]))
    events = await api.ask(session, "what time is it")
    (thought,) = of_type(events, "thinking.completed")
    assert (thought["text"], thought["effort"]) == ("So many", "max")
    first, second = scripted.model.requests
    asked = {
        "chat": lambda: first["reasoning_effort"] == "max",
        "responses": lambda: first["reasoning"]["effort"] == "xhigh",
        "messages": lambda: first["output_config"] == {"effort": "max"},
    }
    assert asked[scripted.form](), first
    assert "So many" in said_in(second)
    await api.json("PATCH", f"/sessions/{session}", json={"options": {"enable_thinking": False}})
    scripted.answer(Answer(thinking=("Unasked",), texts=("Well.",)))
    assert not of_type(await api.ask(session, "and now"), "thinking.completed", "thinking.delta")


async def test_what_a_run_cost_is_told_with_its_title_and_an_unknown_price_is_none(
    scripted: Scripted, api: ApiClient
) -> None:
    scripted.model.title = Answer(texts=("Priced",), usage=(100, 0, 10))
    session = await api.new_session(model=PRICED)
    scripted.answer(Answer(usage=(1000, 400, 20)))
    (end, *_) = of_type(await api.ask(session, "hello"), "run.finished")
    answer = (600 * 2 + 400 * 1 + 20 * 10) / 1e6
    assert end["usage"]["cost"] == pytest.approx(answer)
    await titled(api, session, "Priced")
    usage = (await api.json("GET", f"/sessions/{session}/state"))["usage"]
    assert usage["cost"] == pytest.approx(answer + (100 * 2 + 10 * 10) / 1e6)
    assert (usage["input"], usage["cached"], usage["output"]) == (1100, 400, 30)
    unpriced = await api.new_session(title="named")
    scripted.answer(Answer(usage=(1000, 400, 20)))
    (end, *_) = of_type(await api.ask(unpriced, "hello"), "run.finished")
    assert (end["usage"]["cost"], end["usage"]["known_cost"]) == (None, 0)
    by_model = await api.json("GET", "/usage", params={"by": "model"})
    assert {PRICED, scripted.default} <= {row["model"] for row in by_model["items"]}


async def test_a_title_is_found_once_and_the_persons_own_stays(scripted: Scripted, api: ApiClient) -> None:
    scripted.model.title = Answer(texts=("Found",))
    session, own = await api.new_session(), await api.new_session(title="My own")
    await api.ask(session, "hello")
    told = await titled(api, session, "Found")
    assert [event["title"] for event in of_type(told, "session.updated")][-1] == "Found"
    await api.ask(own, "hello")
    await api.json("PATCH", f"/sessions/{session}", json={"title": "Mine now"})
    await api.ask(session, "and now")
    assert (await api.json("GET", f"/sessions/{own}"))["title"] == "My own"
    assert (await api.json("GET", f"/sessions/{session}"))["title"] == "Mine now"
    assert len(scripted.model.title_requests) == 1
