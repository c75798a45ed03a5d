"""Sessions, messages and their stream through the wire; the test plays the worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from backend_api.agent.events import BodyReference, MessageCompleted, MessageDelta, RunFinished, ToolFinished
from backend_api.agent.new_events import Body, NewEvent
from backend_api.conversations.domain.entity import Lease
from backend_api.kit.ids import SessionId
from backend_api.kit.notifier import Topic
from support.gateway import Gateway
from support.streams import reading


async def claimed(gateway: Gateway) -> Lease:
    async with asyncio.timeout(30), gateway.ports.notifier.subscribe(Topic.RUN_QUEUED) as queued:
        while (lease := await gateway.ports.ledger.claim("w", lease_s=30, model="demo")) is None:
            await queued.next(1)
    return lease


async def answered(gateway: Gateway, text: str = "Hi there") -> None:
    """Play a worker that answers one run."""
    ports, lease = gateway.ports, await claimed(gateway)
    session_id = lease.run.session_id
    await ports.stream.show(session_id, lease.run.id, MessageDelta(message_id="a", offset=0, text=text))
    answer = [NewEvent(payload=MessageCompleted(message_id="a", text=text))]
    await ports.stream.append(session_id, await ports.ledger.record(lease, answer))
    events = await ports.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="completed"), seen_seq=99)
    await ports.stream.append(session_id, events)


async def test_a_session_is_created_changed_listed_and_deleted(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    created = await gateway.client.post(
        "/api/sessions", json={"title": "Plans", "model": "demo", "options": {"max_turns": 5}}, headers=anna
    )
    session = created.json()
    assert (session["title"], session["status"], session["options"]) == ("Plans", "idle", {"max_turns": 5})
    url = f"/api/sessions/{session['id']}"
    changed = await gateway.client.patch(url, json={"title": "Better", "pinned": True}, headers=anna)
    assert (changed.json()["title"], changed.json()["pinned"], changed.json()["model"]) == ("Better", True, "demo")
    for body, field in (
        ({"titel": "x"}, "body.titel"),
        ({"title": 7}, "body.title"),
        ({"title": "x" * 201}, "body.title"),
        ({"model": "unknown"}, "body.model"),
        ({"preset": "unknown"}, "body.preset"),
        ({"options": {"magic": True}}, "body.options.magic"),
    ):
        refused = await gateway.client.patch(url, json=body, headers=anna)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    events = (await gateway.client.get(f"{url}/events?format=json", headers=anna)).json()
    assert [item["title"] for item in events["items"]] == ["Better"]
    assert (await gateway.client.delete(url, headers=anna)).status_code == 204
    assert (await gateway.client.get(url, headers=anna)).status_code == 404


async def test_a_message_is_answered_over_the_stream_and_resumes_anywhere(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}"
    async with reading(gateway.client, f"{url}/events", anna) as reader:
        assert reader.response.headers["x-accel-buffering"] == "no"
        assert reader.response.headers["cache-control"] == "no-cache"
        body = {"text": "hello", "client_message_id": "c1"}
        accepted = await gateway.client.post(f"{url}/messages", json=body, headers=anna)
        assert accepted.status_code == 202
        again = (await gateway.client.post(f"{url}/messages", json=body, headers=anna)).json()
        assert again == accepted.json() | {"duplicate": True}
        await answered(gateway)
        frames = await reader.until("run.finished")
    stored = [frame for frame in frames if frame.id is not None]
    kinds = ["message.user", "run.queued", "run.started", "message.completed", "run.finished"]
    assert [(frame.id, frame.event) for frame in stored] == [(str(n + 1), kind) for n, kind in enumerate(kinds)]
    assert [frame.data["text"] for frame in frames if frame.event == "message.delta"] in ([], ["Hi there"])
    assert all(frame.data["seq"] is None for frame in frames if frame.id is None)
    async with reading(gateway.client, f"{url}/events?after=1", anna, last_id="3") as reader:
        assert [frame.id for frame in await reader.until("run.finished")] == ["4", "5"]
    page = (await gateway.client.get(f"{url}/events?format=json&after=1&limit=2", headers=anna)).json()
    assert [item["seq"] for item in page["items"]] == [2, 3]
    assert (page["last_seq"], page["has_more"]) == (5, True)
    state = (await gateway.client.get(f"{url}/state", headers=anna)).json()
    assert [(item["role"], item["text"]) for item in state["messages"]] == [
        ("user", "hello"),
        ("assistant", "Hi there"),
    ]
    assert (state["session"]["status"], state["run"], state["last_seq"]) == ("idle", None, 5)
    assert not state["has_more"]


async def test_what_is_cut_by_bytes_says_that_there_is_more(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}"
    answer = MessageCompleted(message_id="a", text="x" * 300_000)
    await gateway.ports.log.append(SessionId(session_id), [answer] * 10)

    async def page(where: str) -> tuple[list[int], bool]:
        got = (await gateway.client.get(f"{url}/events?format=json&{where}", headers=anna)).json()
        assert got["last_seq"] == 10
        return [item["seq"] for item in got["items"]], got["has_more"]

    assert await page("after=0") == ([1, 2, 3, 4, 5], True)
    assert await page("after=5") == ([6, 7, 8, 9, 10], False)
    assert await page("before=11") == ([6, 7, 8, 9, 10], True)
    assert await page("before=6") == ([1, 2, 3, 4, 5], False)
    state = (await gateway.client.get(f"{url}/state", headers=anna)).json()
    assert ([message["seq"] for message in state["messages"]], state["has_more"]) == ([6, 7, 8, 9, 10], True)
    for most, seqs in ((2, [9, 10]), (0, [])):
        state = (await gateway.client.get(f"{url}/state?messages={most}", headers=anna)).json()
        assert ([message["seq"] for message in state["messages"]], state["has_more"]) == (seqs, True)
    refused = await gateway.client.get(f"{url}/state?messages=501", headers=anna)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")


async def test_a_reader_that_comes_late_gets_the_text_so_far_first(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}"
    await gateway.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)
    lease = await claimed(gateway)
    stream, run = gateway.ports.stream, lease.run
    for offset, text in ((0, "Gr\U0001f600"), (3, "ü"), (4, "ße")):
        await stream.show(lease.run.session_id, lease.run.id, MessageDelta(message_id="a", offset=offset, text=text))
    async with reading(gateway.client, f"{url}/events", anna) as reader:
        frames = await reader.until("message.delta")
        assert (frames[-1].data["offset"], frames[-1].data["text"]) == (0, "Gr\U0001f600üße")
        await stream.show(run.session_id, run.id, MessageDelta(message_id="a", offset=6, text="!"))
        data = (await reader.next()).data
        assert (data["offset"], data["text"]) == (6, "!")


async def test_runs_wait_for_the_end_or_stream_to_it(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"
    waiting = asyncio.create_task(gateway.client.post(f"{url}/runs", json={"text": "hello"}, headers=anna))
    await answered(gateway, "One")
    result = (await waiting).json()
    assert (result["status"], [item["text"] for item in result["messages"]]) == ("completed", ["hello", "One"])
    worker = asyncio.create_task(answered(gateway, "Two"))
    async with reading(gateway.client, f"{url}/runs/stream", anna, body={"text": "more"}) as reader:
        frames = await reader.until("run.finished")
        assert {frame.data["run_id"] for frame in frames} == {frames[-1].data["run_id"]}
        with pytest.raises(EOFError):
            await reader.next()
    await worker


@pytest.mark.thorough
@pytest.mark.parametrize("call", ["runs", "runs/stream"])
async def test_a_message_its_run_ended_without_reading_is_waited_for_in_the_next_run(
    gateway: Gateway, call: str
) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"
    await gateway.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)
    lease = await claimed(gateway)
    waiting = asyncio.create_task(gateway.client.post(f"{url}/{call}", json={"text": "and this"}, headers=anna))
    async with reading(gateway.client, f"{url}/events?after=3", anna) as reader:
        await reader.until("message.user")
    failed = RunFinished(run_id=lease.run.id, status="failed", reason="The model is away.")
    await gateway.ports.stream.append(
        lease.run.session_id, await gateway.ports.ledger.finish(lease, failed, seen_seq=1)
    )
    await answered(gateway, "Done")
    answer = await waiting
    if call == "runs":
        result = answer.json()
        said = [item["text"] for item in result["messages"]]
        assert (result["status"], result["run_id"] == lease.run.id, said) == ("completed", False, ["and this", "Done"])
    else:
        events = [line for line in answer.text.splitlines() if line.startswith("event: run.")]
        ends = ["event: run.finished", "event: run.queued", "event: run.started", "event: run.finished"]
        assert events == ends


async def test_stopping_an_idle_session_says_so_and_a_queued_run_ends(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"
    assert (await gateway.client.post(f"{url}/stop", headers=anna)).status_code == 204
    accepted = (await gateway.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)).json()
    stopped = await gateway.client.post(f"{url}/stop", headers=anna)
    assert (stopped.status_code, stopped.json()) == (202, {"run_id": accepted["run_id"]})
    page = (await gateway.client.get(f"{url}/events?format=json", headers=anna)).json()
    assert page["items"][-1]["status"] == "stopped"


async def test_a_stop_of_one_run_ends_no_later_one(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"

    async def stopped(run_id: str) -> int:
        return (await gateway.client.post(f"{url}/stop", json={"run_id": run_id}, headers=anna)).status_code

    first = (await gateway.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)).json()["run_id"]
    assert await stopped(first) == 202
    later = (await gateway.client.post(f"{url}/messages", json={"text": "again"}, headers=anna)).json()["run_id"]
    assert await stopped(first) == 204
    assert (await gateway.client.get(url, headers=anna)).json()["status"] == "queued"
    assert await stopped(later) == 202


async def test_what_is_too_much_is_refused(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/messages"
    long = await gateway.client.post(url, json={"text": "ü" * 100_001}, headers=anna)
    assert (long.status_code, long.json()["code"]) == (413, "message_too_long")
    fits = await gateway.client.post(url, json={"text": "\U0001f600" * 100_000}, headers=anna)
    assert fits.status_code == 202

    async def unannounced() -> AsyncGenerator[bytes]:
        for _ in range(3):
            yield b" " * 1_000_000

    for content in (b" " * 3_000_000, unannounced()):
        kind = {"Content-Type": "application/json"}
        huge = await gateway.client.post(url, content=content, headers=anna | kind)
        assert (huge.status_code, huge.json()["code"]) == (413, "body_too_large")
    empty = await gateway.client.post(url, json={"text": ""}, headers=anna)
    assert (empty.status_code, empty.json()["errors"][0]["field"]) == (422, "body.text")


async def test_a_long_body_is_fetched_beside_its_event(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"
    await gateway.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)
    lease = await claimed(gateway)
    finished = ToolFinished(call_id="c", success=True, preview="p", body=BodyReference(size=9, media_type="text/html"))
    body = Body(content=b"<b>all</b>", media_type="text/html")
    (event,) = await gateway.ports.ledger.record(lease, [NewEvent(payload=finished, body=body)])
    answer = await gateway.client.get(f"{url}/events/{event.seq}/body", headers=anna)
    assert answer.content == b"<b>all</b>"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert (await gateway.client.get(f"{url}/events/1/body", headers=anna)).status_code == 404


async def test_every_answer_has_a_request_id_and_lists_and_health_answer(gateway: Gateway) -> None:
    given = await gateway.client.get("/healthz", headers={"X-Request-ID": "abc-12345"})
    assert (given.status_code, given.headers["x-request-id"]) == (200, "abc-12345")
    refused = await gateway.client.get("/api/nothing", headers={"X-Request-ID": "no good\u00e9".encode()})
    assert (refused.status_code, refused.json()["request_id"]) == (404, refused.headers["x-request-id"])
    anna = await gateway.user("anna")
    for path, length in (("tools", 1), ("models", 2), ("skills", 8), ("presets", 5)):
        assert len((await gateway.client.get(f"/api/{path}", headers=anna)).json()) == length
    assert (await gateway.client.get("/docs")).status_code == 200


@pytest.mark.parametrize("text", [" \n ", "\u3000"])
async def test_a_message_of_white_space_is_refused(gateway: Gateway, text: str) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    for way in ("messages", "runs", "runs/stream"):
        refused = await gateway.client.post(f"/api/sessions/{session_id}/{way}", json={"text": text}, headers=anna)
        assert refused.status_code == 422
        assert [error["field"] for error in refused.json()["errors"]] == ["body.text"]
    state = await gateway.client.get(f"/api/sessions/{session_id}", headers=anna)
    assert (state.json()["status"], state.json()["last_seq"]) == ("idle", 0)


async def test_another_message_under_a_used_id_is_refused(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/messages"
    assert (await gateway.client.post(url, json={"text": "a", "client_message_id": "c"}, headers=anna)).is_success
    other = await gateway.client.post(url, json={"text": "b", "client_message_id": "c"}, headers=anna)
    assert (other.status_code, other.json()["code"]) == (409, "message_differs")
