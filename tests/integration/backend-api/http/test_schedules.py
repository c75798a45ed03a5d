"""Schedules over HTTP: made, listed, changed, run, deleted, and what is wrong with them told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend_api.schedules.application.fire_schedules import FireSchedules
from support.gateway import Gateway, run_gateway
from support.servers import Server

DAILY = {"text": "What is new?", "cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}


async def ask(gateway: Gateway, headers: dict[str, str], method: str, path: str = "", **sent: Any) -> httpx.Response:
    json = sent or None
    return await gateway.client.request(method, f"/api/schedules{path}", json=json, headers=headers)


async def created(gateway: Gateway, headers: dict[str, str], **fields: Any) -> dict[str, Any]:
    answer = await ask(gateway, headers, "POST", **(DAILY | fields))
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def changed(gateway: Gateway, headers: dict[str, str], schedule_id: str, **fields: Any) -> dict[str, Any]:
    answer = await ask(gateway, headers, "PATCH", f"/{schedule_id}", **fields)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def one(gateway: Gateway, headers: dict[str, str]) -> dict[str, Any]:
    (item,) = (await ask(gateway, headers, "GET")).json()["items"]
    return dict(item)


@asynccontextmanager
async def firing(gateway: Gateway) -> AsyncGenerator[None]:
    """As every process of a deployment does."""
    fire: FireSchedules = gateway.ports.modules.ports["fire_schedules"]  # type: ignore[assignment]
    task = asyncio.create_task(fire.fire_until_cancelled())
    yield
    task.cancel()
    await asyncio.wait({task})


async def events_of(gateway: Gateway, headers: dict[str, str], session_id: str) -> list[dict[str, Any]]:
    path = f"/api/sessions/{session_id}/events?format=json"
    return list((await gateway.client.get(path, headers=headers)).json()["items"])


async def last_run(gateway: Gateway, headers: dict[str, str]) -> dict[str, Any]:
    async with asyncio.timeout(5):
        while (last := (await one(gateway, headers))["last_run"]) is None:
            await asyncio.sleep(0.02)
    return dict(last)


async def test_one_is_made_listed_changed_and_deleted(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    schedule = await created(gateway, anna)
    assert await one(gateway, anna) == schedule
    next_at = datetime.fromisoformat(schedule["next_at"])
    assert next_at > datetime.now(UTC)
    assert next_at.weekday() < 5
    assert (schedule["session_id"], schedule["last_run"], schedule["missed"]) == (None, None, None)
    session_id = await gateway.session(anna)
    moved = await changed(gateway, anna, schedule["id"], session_id=session_id, text="Other")
    assert moved == schedule | {"session_id": session_id, "text": "Other"}
    paused = await changed(gateway, anna, schedule["id"], paused=True)
    assert (paused["paused"], paused["next_at"]) == (True, None)
    assert (await changed(gateway, anna, schedule["id"], cron="0 8 * * *"))["next_at"] is None
    once = await changed(gateway, anna, schedule["id"], at="2031-07-01T09:00", paused=False)
    assert (once["cron"], once["at"], once["next_at"]) == (None, "2031-07-01T07:00:00.000Z", once["at"])
    again = await changed(gateway, anna, schedule["id"], at="2031-07-01T09:00:00+00:00", session_id=None)
    assert (again["at"], again["session_id"]) == ("2031-07-01T09:00:00.000Z", None)
    assert (await ask(gateway, anna, "DELETE", f"/{schedule['id']}")).status_code == 204
    assert (await ask(gateway, anna, "GET")).json() == {"items": []}


async def test_those_of_somebody_else_are_never_seen_changed_run_or_deleted(gateway: Gateway) -> None:
    """The first account is the administrator's."""
    admin, bert = await gateway.user("admin"), await gateway.user("bert")
    schedule = await created(gateway, bert)
    session_id = await gateway.session(bert)
    assert (await ask(gateway, admin, "GET")).json() == {"items": []}
    for method, path, sent in (("PATCH", "", {"paused": True}), ("DELETE", "", {}), ("POST", "/run", {})):
        answer = await ask(gateway, admin, method, f"/{schedule['id']}{path}", **sent)
        assert (answer.status_code, answer.json()["code"]) == (404, "schedule_not_found")
    answer = await ask(gateway, admin, "POST", **DAILY, session_id=session_id)
    assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")
    assert await one(gateway, bert) == schedule


@pytest.mark.parametrize(
    ("sent", "field", "said"),
    [
        ({"cron": "0 25 * * *"}, "body.cron", "The hour (2nd field)"),
        pytest.param({"cron": "0 25 * * *"}, "body.cron", '"code":"cron_hour"', marks=pytest.mark.thorough),
        pytest.param({"cron": "0 9 * *"}, "body.cron", "4 fields", marks=pytest.mark.thorough),
        pytest.param({"cron": "0 " * 60}, "body.cron", "100 characters", marks=pytest.mark.thorough),
        ({"timezone": "Berlin"}, "body.timezone", "IANA"),
        pytest.param({"cron": None}, "body.at", "either at", marks=pytest.mark.thorough),
        pytest.param({"at": "2031-07-01T09:00"}, "body.at", "not both", marks=pytest.mark.thorough),
        ({"cron": None, "at": "2020-01-01T09:00"}, "body.at", "has passed"),
        pytest.param({"cron": None, "at": "2126-01-01T09:00"}, "body.at", "10 years", marks=pytest.mark.thorough),
        pytest.param({"cron": None, "at": "tomorrow"}, "body.at", "Not a valid time", marks=pytest.mark.thorough),
        pytest.param(
            {"cron": None, "at": "0001-01-01T00:00:00+14:00"}, "body.at", "Not a valid time", marks=pytest.mark.thorough
        ),
        ({"text": "  "}, "body.text", "Enter the message"),
        pytest.param({"text": "x" * 10_001}, "body.text", "10000", marks=pytest.mark.thorough),
        pytest.param({"model": "none"}, "body.model", "not available", marks=pytest.mark.thorough),
        pytest.param({"preset": "none"}, "body.preset", "not available", marks=pytest.mark.thorough),
        ({"options": {"denied_tools": ["none"]}}, "body.options.denied_tools", "no tool"),
    ],
)
async def test_what_is_wrong_is_told_with_the_field(
    gateway: Gateway, sent: dict[str, Any], field: str, said: str
) -> None:
    anna = await gateway.user("anna")
    answer = await ask(gateway, anna, "POST", **(DAILY | sent))
    problem = answer.json()
    assert (answer.status_code, problem["errors"][0]["field"]) == (422, field), problem
    assert said in answer.text
    assert (await ask(gateway, anna, "GET")).json() == {"items": []}


async def test_the_options_of_new_sessions_go_with_no_session(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    answer = await ask(gateway, anna, "POST", **DAILY, session_id=session_id, preset="chat")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body.preset")
    schedule = await created(gateway, anna, preset="chat", options={"max_turns": 3})
    assert (schedule["preset"], schedule["options"]) == ("chat", {"max_turns": 3})
    moved = await changed(gateway, anna, schedule["id"], session_id=session_id)
    assert (moved["preset"], moved["options"]) == (None, {})


async def test_one_that_is_made_is_sent_when_it_is_due(gateway: Gateway) -> None:
    """To a new session, within two seconds of its time, by whoever hears of it."""
    anna = await gateway.user("anna")
    async with firing(gateway):
        at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=4)
        await created(gateway, anna, cron=None, at=at.isoformat(), preset="chat")
        last = await last_run(gateway, anna)
    assert (last["missed"], last["status"]) == (None, "queued")
    assert timedelta(0) <= datetime.fromisoformat(last["at"]) - at < timedelta(seconds=2)
    events = await events_of(gateway, anna, last["session_id"])
    assert [event["type"] for event in events] == ["schedule.fired", "message.user", "run.queued"]
    assert (events[0]["missed"], events[1]["text"], events[2]["cause"]) == (0, DAILY["text"], "schedule")
    session = (await gateway.client.get(f"/api/sessions/{last['session_id']}", headers=anna)).json()
    assert (session["preset"], session["status"]) == ("chat", "queued")
    over = await one(gateway, anna)
    assert (over["next_at"], over["paused"]) == (None, False)
    answer = await ask(gateway, anna, "PATCH", f"/{over['id']}", paused=False)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body.at")
    assert (await changed(gateway, anna, over["id"], text="Other"))["next_at"] is None


async def test_one_is_run_now_and_a_full_session_says_so(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, max_waiting=2) as gateway:
        anna = await gateway.user("anna")
        session_id = await gateway.session(anna)
        schedule = await created(gateway, anna, session_id=session_id, paused=True)
        for _ in range(2):
            ran = await ask(gateway, anna, "POST", f"/{schedule['id']}/run")
            assert ran.status_code == 202
        assert ran.json()["last_run"]["due_at"] is None
        assert ran.json() == await one(gateway, anna)
        answer = await ask(gateway, anna, "POST", f"/{schedule['id']}/run")
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_waiting")
        types = [event["type"] for event in await events_of(gateway, anna, session_id)]
        assert types == ["schedule.fired", "message.user", "run.queued", "schedule.fired", "message.user"]


async def test_the_look_for_what_is_due_uses_its_index(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    await created(gateway, anna)
    wanted = {"look_at": {"$type": "date"}}
    plan = await gateway.database["schedules"].find(wanted).sort("look_at", 1).limit(100).explain()
    assert "upcoming_schedules" in str(plan["queryPlanner"]["winningPlan"])
    assert "SORT" not in str(plan["queryPlanner"]["winningPlan"])
