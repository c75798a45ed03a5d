"""Model calls of a session that wants them stored, over HTTP, in each wire format, with keys planted everywhere."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from backend_api.agent.capabilities.compaction import compaction
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.mongo.model_call_quota import MongoModelCallQuota
from backend_api.kit.masking import Mask
from backend_api.models.catalogue import Catalogue, LlmSettings
from backend_api.models.wire.calls import RetryPolicy
from backend_api.runs.application.run_services import RunOptions, RunServices
from backend_api.runs.application.worker import Worker
from backend_api.runs.capabilities import COMPACT_THRESHOLD
from support.acting import Tools
from support.gate import some_in_gate
from support.gateway import Gateway
from support.model_seals import Form
from support.model_server import Answer, Call, ModelServer
from support.scripted import HandlerBox, OnOutput
from support.stage import working
from support.tables import having

PROVIDER_KEY = "sk-planted-0123456789abcdef"
PASTED = "tr0ub4dor-and-3-horses"
SETTINGS: dict[Form, dict[str, str]] = {
    "chat": {"provider": "openai", "openai_api": "chat", "model": "deepseek-v4-pro"},
    "responses": {"provider": "openai", "openai_api": "responses", "model": "gpt-5.5"},
    "messages": {"provider": "anthropic", "model": "claude-opus-4-6"},
}
FORMS: list[Form] = ["chat", "responses", "messages"]


def box() -> HandlerBox:
    made = HandlerBox()

    async def look(call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        return Done(success=True, output=f"It says: {PASTED}, {PROVIDER_KEY} and Bearer abcdef0123456789abcdef")

    made.add("look", look, read_only=True)
    return made


@asynccontextmanager
async def at_work(
    gateway: Gateway, server: ModelServer, form: Form, *, kept_most: int = 0, window: int = 2_000, **roles: str
) -> AsyncGenerator[None]:
    settings = LlmSettings(
        openai_key=PROVIDER_KEY,
        openai_base_url=server.openai_url,
        anthropic_key=PROVIDER_KEY,
        anthropic_base_url=server.url,
        roles=roles,  # pyright: ignore[reportArgumentType] -- names of roles
        context_window=window,
        **SETTINGS[form],  # pyright: ignore[reportArgumentType] -- fields of it
    )
    ports, ids = gateway.ports, count(1)
    async with Catalogue(settings, RetryPolicy(base_delay_s=0, max_delay_s=0)) as catalogue:
        services = RunServices(
            ledger=ports.ledger,
            log=ports.log,
            stream=ports.stream,
            notifier=ports.notifier,
            sessions=ports.sessions,
            catalogue=catalogue,
            capabilities=having(compaction(threshold=COMPACT_THRESHOLD))(Tools(box())),
            options=RunOptions(),
            clock=lambda: datetime.now(UTC),
            new_id=lambda kind: f"{kind}_{next(ids)}",
            mask=Mask([PROVIDER_KEY, PASTED]),
            model_call_quota=MongoModelCallQuota(gateway.database, most=kept_most),
        )
        async with working(Worker(name="worker", services=services, poll_s=0.05)):
            yield


async def session_of(gateway: Gateway, headers: dict[str, str], **options: Any) -> str:
    body = {"title": "named", "options": {"enable_tracing": True, **options}}
    made = await gateway.client.post("/api/sessions", json=body, headers=headers)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def events_of(gateway: Gateway, headers: dict[str, str], session_id: str) -> list[dict[str, Any]]:
    url = f"/api/sessions/{session_id}/events?format=json&limit=1000"
    return (await gateway.client.get(url, headers=headers)).json()["items"]


async def whole(gateway: Gateway, headers: dict[str, str], event: dict[str, Any]) -> dict[str, Any]:
    url = f"/api/sessions/{event['session_id']}/events/{event['seq']}/request"
    answer = await gateway.client.get(url, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def said(gateway: Gateway, headers: dict[str, str], session_id: str, text: str) -> dict[str, Any]:
    url = f"/api/sessions/{session_id}/runs"
    answer = await gateway.client.post(url, json={"text": text}, headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()


def of_type(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == name]


@pytest.mark.parametrize("form", some_in_gate(FORMS, ["chat"]))
async def test_what_a_model_is_asked_and_answers_is_told_without_any_secret(
    gateway: Gateway, form: Form, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    answers = [
        Answer(status=503, message=f"Busy with {PROVIDER_KEY}"),
        Answer(
            thinking=["hm"], texts=(f"I look with {PASTED}",), calls=[Call(name="look", arguments='{"what": "it"}')]
        ),
        Answer(texts=("Done.",)),
    ]
    async with ModelServer() as server:
        server.answer(*answers)
        async with at_work(gateway, server, form):
            session_id = await session_of(gateway, anna)
            end = await said(gateway, anna, session_id, f"look at it, my password is {PASTED} {'x' * 3_000}")
            assert (end["status"], server.refusals) == ("completed", [])
            assert PASTED in json.dumps(server.requests), "what is sent is not changed"
    events = await events_of(gateway, anna, session_id)
    asked, answered = of_type(events, "llm.request"), of_type(events, "llm.response")
    assert [(one["number"], one["role"]) for one in asked] == [(1, "agent"), (2, "agent")]
    assert [(one["number"], one["outcome"]) for one in answered] == [(1, "tool_calls"), (2, "stop")]
    assert [attempt["code"] for attempt in answered[0]["attempts"]] == ["model_unavailable"]
    assert [answered[0]["usage"][name] for name in ("input", "cached", "output")] == [10, 4, 2]
    assert answered[0]["payload"]["calls"][0]["name"] == "look"
    assert (asked[0]["payload"], asked[0]["body"] is None, asked[1]["extends"]) == (None, False, [asked[0]["seq"]])
    read = await whole(gateway, anna, asked[1])
    assert [turn["role"] for turn in read["turns"]][-2:] == ["assistant", "tool"]
    assert read["system"]
    assert read["turns"][-1]["output"] == "It says: [masked], [masked] and Bearer [masked]"

    kept = json.dumps([asked, answered, read])
    async for part in gateway.database["bodies"].find({"session_id": session_id}):
        kept += bytes(part["content"]).decode()
    for secret in (PROVIDER_KEY, PASTED, "abcdef0123456789"):
        assert secret not in kept
    everything = str([document async for document in gateway.database["events"].find({})])
    assert everything.count(PROVIDER_KEY) == 1, "what the tool said, as the conversation has it"
    logged = str(
        [record.__dict__ for record in caplog.records if record.name.startswith(("backend_api", "service_kit"))]
    )
    assert "run claimed" in logged
    assert PROVIDER_KEY not in logged
    assert PASTED not in logged

    for path in (f"events/{asked[0]['seq']}/request", f"events/{asked[0]['seq']}/body"):
        url = f"/api/sessions/{session_id}/{path}"
        assert (await gateway.client.get(url, headers=bert)).status_code == 404
    for seq in (0, 1, asked[1]["seq"] + 1, 2**60):
        url = f"/api/sessions/{session_id}/events/{seq}/request"
        answer = await gateway.client.get(url, headers=anna)
        assert (answer.status_code, answer.json()["code"]) == (404, "event_body_not_found")
    assert (await gateway.client.delete(f"/api/sessions/{session_id}", headers=anna)).status_code == 204
    for name in ("events", "bodies"):
        assert await gateway.database[name].count_documents({"session_id": session_id}) == 0


async def test_beyond_what_a_user_may_keep_calls_are_told_without_their_content_until_a_session_is_deleted(
    gateway: Gateway,
) -> None:
    form: Form = "chat"  # all formats are kept as one text
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    most = 20_000
    async with ModelServer(respond=lambda _: Answer(texts=("Done.",))) as server:
        first, second, others = [await session_of(gateway, user) for user in (anna, anna, bert)]
        async with at_work(gateway, server, form, kept_most=most, window=50_000):
            await said(gateway, anna, first, "x" * most)
        # Another worker, which has nothing in its memory.
        async with at_work(gateway, server, form, kept_most=most, window=50_000):
            for headers, session_id in ((anna, first), (anna, second), (bert, others)):
                assert (await said(gateway, headers, session_id, "go on"))["status"] == "completed"
            calls = {
                session_id: [one for one in await events_of(gateway, headers, session_id) if one["type"][:4] == "llm."]
                for headers, session_id in ((anna, first), (anna, second), (bert, others))
            }
            assert [one["omitted"] for one in calls[first]] == [None, "limit", "limit", "limit"]
            assert [one["omitted"] for one in calls[second]] == ["limit", "limit"]
            assert [one["omitted"] for one in calls[others]] == [None, None]
            request, response = calls[second]
            assert (request["payload"], request["body"], request["number"]) == (None, None, 1)
            assert (response["payload"], response["body"], response["outcome"]) == (None, None, "stop")
            assert response["usage"]["input"] == 10
            url = f"/api/sessions/{second}/events/{request['seq']}/request"
            answer = await gateway.client.get(url, headers=anna)
            assert (answer.status_code, answer.json()["code"]) == (404, "event_body_not_found")
            assert "not stored" in answer.json()["detail"]

            assert (await gateway.client.delete(f"/api/sessions/{first}", headers=anna)).status_code == 204
            assert (await said(gateway, anna, second, "and now?"))["status"] == "completed"
            request = of_type(await events_of(gateway, anna, second), "llm.request")[-1]
            assert request["omitted"] is None
            read = await whole(gateway, anna, request)
            assert [turn["text"] for turn in read["turns"] if turn["role"] == "user"] == ["go on", "and now?"]
        assert server.refusals == []
