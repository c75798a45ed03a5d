"""A session over a WebSocket: the same events, what a client may say, and why it is closed."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import ClientConnection
from websockets.typing import Origin, Subprotocol

from backend_api.agent.events import MessageCompleted, MessageDelta, MessageUser, RunFinished
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.kit.http.ports import WebOptions
from backend_api.kit.ids import SessionId
from support.gateway import Gateway, run_gateway
from support.servers import Server
from support.streams import FrameReader, reading

WAIT_S = 20.0
STREAMS = 3
"""Places of a user in the gateway of these tests."""


def address(gateway: Gateway, session_id: str, after: object = 0) -> str:
    return f"{gateway.url.replace('http', 'ws')}/api/sessions/{session_id}/ws?after={after}"


def token_of(headers: dict[str, str]) -> str:
    return headers["Authorization"].removeprefix("Bearer ")


async def receive(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(WAIT_S):
        return dict(json.loads(await socket.recv()))


async def until(socket: ClientConnection, type_: str) -> list[dict[str, Any]]:
    frames = [await receive(socket)]
    while frames[-1]["type"] != type_:
        frames.append(await receive(socket))
    return frames


async def ask(socket: ClientConnection, **frame: Any) -> dict[str, Any]:
    """Say something and skip events until it is answered."""
    await socket.send(json.dumps(frame))
    while True:
        answer = await receive(socket)
        if answer["type"] in ("accepted", "pong", "error"):
            return answer


async def code_of(socket: ClientConnection) -> int:
    async with asyncio.timeout(WAIT_S):
        with suppress(websockets.ConnectionClosed):
            while True:
                await socket.recv()
    return socket.close_code or 0


async def code_at(url: str, **options: Any) -> int:
    async with websockets.connect(url, **options) as socket:
        return await code_of(socket)


async def play(gateway: Gateway) -> None:
    """Play a worker that answers one run with a delta and a text."""
    ports = gateway.ports
    lease = await ports.ledger.claim("w", lease_s=30, model="demo")
    assert lease is not None
    session_id, run_id = lease.run.session_id, lease.run.id
    await ports.stream.show(session_id, run_id, MessageDelta(message_id="a", offset=0, text="Hi"))
    events = await ports.ledger.record(lease, [NewEvent(payload=MessageCompleted(message_id="a", text="Hi"))])
    await ports.stream.append(session_id, events)
    end = await ports.ledger.finish(lease, RunFinished(run_id=run_id, status="completed"), seen_seq=99)
    await ports.stream.append(session_id, end)


async def test_a_message_is_said_and_answered_on_one_socket(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    async with websockets.connect(address(gateway, session_id), additional_headers=anna) as socket:
        message = {"type": "message", "text": "hello", "client_message_id": "c1"}
        accepted = await ask(socket, **message)
        assert (accepted["seq"], accepted["duplicate"], accepted["client_message_id"]) == (1, False, "c1")
        assert (await ask(socket, **message))["duplicate"] is True
        await play(gateway)
        await until(socket, "run.finished")
    async with websockets.connect(address(gateway, session_id, 1), additional_headers=anna) as socket:
        frames = await until(socket, "run.finished")
        page = await gateway.client.get(f"/api/sessions/{session_id}/events?format=json&after=1", headers=anna)
        assert frames == page.json()["items"]


async def test_three_ways_to_say_who_one_is(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    url = address(gateway, await gateway.session(anna))
    bearer = Subprotocol(f"bearer.{token_of(anna)}")
    async with websockets.connect(url, additional_headers=anna) as socket:
        assert await ask(socket, type="ping") == {"type": "pong"}
    async with websockets.connect(url, subprotocols=[Subprotocol("other"), bearer]) as socket:
        assert socket.subprotocol == bearer
        assert await ask(socket, type="ping") == {"type": "pong"}
    async with websockets.connect(url) as socket:
        await socket.send(json.dumps({"type": "auth", "token": token_of(anna)}))
        assert await ask(socket, type="ping") == {"type": "pong"}


async def test_who_is_nobody_or_somebody_else_is_closed_out(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await gateway.session(anna)
    url = address(gateway, session_id)
    assert await code_at(url, additional_headers={"Authorization": "Bearer nonsense"}) == 4401
    assert await code_at(url, subprotocols=[Subprotocol("bearer.nonsense")]) == 4401
    assert await code_at(url, additional_headers=bert) == 4404
    assert await code_at(address(gateway, "nothing"), additional_headers=anna) == 4404
    for first in ('{"type": "ping"}', "nonsense", '{"type": "auth", "token": "x"}', b"\x00", None):
        async with websockets.connect(url) as socket:
            if first is not None:
                await socket.send(first)
            assert await code_of(socket) == 4401
    for after in ("", "x", "-1", "9" * 30, "9" * 5000, "%C2%B2"):
        assert await code_at(address(gateway, session_id, after), additional_headers=anna) == 1008
    with pytest.raises(websockets.InvalidStatus):
        await code_at(url, additional_headers=anna, origin=Origin("https://evil.example"))


async def test_in_local_mode_nobody_is_asked(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    options = WebOptions(is_local=True)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as gateway:
        async with websockets.connect(address(gateway, await gateway.session({}))) as socket:
            assert await ask(socket, type="ping") == {"type": "pong"}


async def test_frames_that_ask_for_what_is_not_there_get_a_typed_error_and_the_socket_goes_on(
    gateway: Gateway,
) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    async with websockets.connect(address(gateway, session_id), additional_headers=anna) as socket:
        for frame, code, field in (
            ({"type": "approval", "approval_id": "a", "decision": "approve"}, "approval_not_found", None),
            ({"type": "answer", "question_id": "q", "answers": {}}, "question_not_found", None),
            ({"type": "message", "text": ""}, "invalid", "message.text"),
            ({"type": "message", "text": "x" * 100_001}, "message_too_long", None),
            ({"type": "options", "model": "unknown"}, "invalid", "body.model"),
            ({"type": "options", "preset": "unknown"}, "invalid", "body.preset"),
            ({"type": "options", "preset": 1}, "invalid", "options.preset"),
            ({"type": "options", "magic": True}, "invalid", "options.magic"),
            ({"type": "options", "enable_teams": "yes"}, "invalid", "options.enable_teams"),
            ({"type": "plan", "plan_id": "p", "decision": "approve"}, "plan_not_found", None),
            ({"type": "plan", "plan_id": "p", "decision": "perhaps"}, "invalid", "plan.decision"),
            ({"type": "options", "max_turns": True}, "invalid", "options.max_turns"),
            ({"type": "options", "max_turns": "7"}, "invalid", "options.max_turns"),
            ({"type": "options", "enable_approval": "yes"}, "invalid", "options.enable_approval"),
            ({"type": "interrupt", "text": "x", "interrupt": False}, "invalid", "interrupt.interrupt"),
            ({"type": "message", "text": "x", "attachments": ["none"]}, "invalid", "body.attachments.0"),
            ({"type": "dance"}, "invalid", "frame"),
            ({"type": "auth", "token": "x"}, "token_invalid", None),
        ):
            error = await ask(socket, **frame)
            assert (error["type"], error["code"], error["field"]) == ("error", code, field)
            assert (error["seq"], error["session_id"]) == (None, session_id)
        assert (await ask(socket, type="cancel"))["run_id"] is None
        await socket.send(json.dumps({"type": "options", "max_turns": 7}))
        await socket.send(json.dumps({"type": "options", "max_turns": 9}))
        changed = [await until(socket, "session.updated") for _ in range(2)]
        assert changed[-1][-1]["options"] == {"max_turns": 9}
        accepted = await ask(socket, type="message", text="\U0001f600" * 100_000)
        assert (await ask(socket, type="cancel"))["run_id"] == accepted["run_id"]
        assert (await ask(socket, type="interrupt", text="no, this"))["frame"] == "interrupt"


@pytest.mark.thorough
async def test_null_takes_model_and_preset_back_and_what_changes_nothing_is_not_told(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}"
    model = (await gateway.client.get("/api/models", headers=anna)).json()[-1]["id"]
    async with websockets.connect(address(gateway, session_id), additional_headers=anna) as socket:
        for frame in (
            {"model": model, "max_turns": 5, "preset": "chat"},
            {"model": model, "preset": "chat"},
            {"max_turns": 5, "enable_approval": None},
            {},
            {"model": None, "preset": None},
            {"model": None, "max_turns": 5},
        ):
            await socket.send(json.dumps({"type": "options"} | frame))
        assert (await ask(socket, type="ping"))["type"] == "pong"
        session = (await gateway.client.get(url, headers=anna)).json()
    assert (session["model"], session["preset"], session["options"]) == (None, None, {"max_turns": 5})
    page = (await gateway.client.get(f"{url}/events?format=json", headers=anna)).json()
    changes = [event for event in page["items"] if event["type"] == "session.updated"]
    assert [(change.get("model"), change.get("preset"), change.get("options")) for change in changes] == [
        (model, "chat", {"max_turns": 5}),
        (None, None, None),
    ]


@pytest.mark.parametrize("seed", range(2))
async def test_malformed_frames_never_break_the_socket(gateway: Gateway, seed: int) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    chance = random.Random(seed)
    shapes: list[Any] = [None, True, 1e308, -1, "", "x" * 300, [], {}, [[]] * 3, {"type": "ping"}, "\ud83d", 2**70]
    names = ("type", "text", "token", "answers", "decision", "attachments", "max_turns", "\x00")
    types = ("message", "interrupt", "cancel", "approval", "answer", "options", "ping", "auth", "", None, 7)

    def garbage() -> str | bytes:
        kind = chance.randrange(5)
        if kind == 0:
            return chance.randbytes(chance.randint(0, 60))
        if kind == 1:
            return "".join(chr(chance.choice((0, 34, 92, 123, 125, 91, 0x1F600, 0xE9))) for _ in range(40))
        if kind == 2:
            return "[" * chance.choice((10, 10_000)) + "1"
        frame = {chance.choice(names): chance.choice(shapes) for _ in range(chance.randint(0, 4))}
        text = json.dumps(frame | {"type": chance.choice(types)})
        return text[: chance.randint(1, len(text))] if kind == 3 else text

    async with websockets.connect(address(gateway, session_id), additional_headers=anna) as socket:
        for _ in range(150):
            await socket.send(garbage())
        await socket.send(json.dumps({"type": "ping"}))
        await until(socket, "pong")
        assert (await ask(socket, type="message", text="x" * 1_600_000))["code"] == "invalid"
    for _ in range(10):
        async with websockets.connect(address(gateway, session_id), additional_headers=anna) as socket:
            socket.transport.write(chance.randbytes(200))
            assert await code_of(socket) in (1002, 1006, 1007, 1009, 1005)
    assert (await gateway.client.get("/healthz")).status_code == 200


async def test_a_frame_of_nothing_but_values_is_refused_before_it_is_read(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    names = ",".join(f'"{number:x}":1' for number in range(150_000))
    async with websockets.connect(address(gateway, session_id), additional_headers=anna) as socket:
        assert (await ask(socket, type="ping"))["type"] == "pong"
        for frame in (f'{{"type":"cancel",{names}}}', "[" * 1_400_000, "[" + "[]," * 400_000 + "1]"):
            await socket.send(frame)
            refused = await until(socket, "error")
            assert "too many values" in refused[-1]["text"]
        await socket.send(json.dumps({"type": "ping", "x" * 1_000_000: 1}))
        assert len(json.dumps((await until(socket, "error"))[-1])) < 2_000
        assert (await ask(socket, type="ping"))["type"] == "pong"


async def _until_line(lines: AsyncIterator[str], wanted: str) -> None:
    async with asyncio.timeout(WAIT_S):
        while await anext(lines) != wanted:
            pass


async def test_a_removed_session_and_an_ending_gateway_close_the_socket(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    first, second = await gateway.session(anna), await gateway.session(anna)
    async with (
        websockets.connect(address(gateway, first), additional_headers=anna) as gone,
        websockets.connect(address(gateway, second), additional_headers=anna) as left,
        gateway.client.stream("GET", "/api/events", headers=anna) as feed,
    ):
        lines = feed.aiter_lines()
        # Its first line comes before it follows anything.
        await _until_line(lines, "event: feed.started")
        assert await ask(left, type="ping") == {"type": "pong"}
        assert (await gateway.client.delete(f"/api/sessions/{first}", headers=anna)).status_code == 204
        assert await code_of(gone) == 4404
        await _until_line(lines, "event: session.deleted")
        gateway.port("stream_slots", StreamSlots).close()
        assert await code_of(left) == 1012
        async with asyncio.timeout(WAIT_S):
            async for _ in lines:
                pass


async def status(gateway: Gateway, headers: dict[str, str]) -> int:
    async with gateway.client.stream("GET", "/api/events", headers=headers) as answer:
        return answer.status_code


async def test_one_stream_too_many_is_refused_and_a_place_that_is_left_is_free_again(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    bert = await gateway.user("bert")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}"
    async with AsyncExitStack() as stack:
        socket = await stack.enter_async_context(
            websockets.connect(address(gateway, session_id), additional_headers=anna)
        )
        assert await ask(socket, type="ping") == {"type": "pong"}
        readers: list[FrameReader] = []
        for path in ("/api/events", f"{url}/events"):
            reader = await stack.enter_async_context(reading(gateway.client, path, anna))
            readers.append(reader)
        assert await code_at(address(gateway, session_id), additional_headers=anna) == 4429
        refused = [await gateway.client.get(path, headers=anna) for path in ("/api/events", f"{url}/events")]
        for path in ("runs", "runs/stream"):
            refused.append(await gateway.client.post(f"{url}/{path}", json={"text": "hello"}, headers=anna))
        for answer in refused:
            assert (answer.status_code, answer.json()["code"]) == (429, "too_many_streams")
            assert int(answer.headers["Retry-After"]) > 0
        assert (await gateway.ports.log.read(SessionId(session_id), after=0, limit=9)) == []
        async with gateway.client.stream("GET", "/api/events", headers=bert) as other:
            assert other.status_code == 200
        await socket.close()
        async with asyncio.timeout(WAIT_S):
            while await status(gateway, anna) == 429:
                await asyncio.sleep(0.05)


@pytest.mark.thorough
async def test_of_messages_that_want_the_last_place_to_follow_their_run_only_one_is_said(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    async with AsyncExitStack() as stack:
        for _ in range(STREAMS - 1):
            await stack.enter_async_context(reading(gateway.client, "/api/events", anna))
        for _ in range(STREAMS):
            stranger = await gateway.client.post(
                "/api/sessions/unknown/runs/stream", json={"text": "hello"}, headers=anna
            )
            assert stranger.status_code == 404
        asked = [
            gateway.client.stream(
                "POST", f"/api/sessions/{session_id}/runs/stream", json={"text": f"hello {number}"}, headers=anna
            )
            for number in range(5)
        ]
        answers = await asyncio.gather(*(stack.enter_async_context(question) for question in asked))
        assert sorted(answer.status_code for answer in answers) == [200, 429, 429, 429, 429]
        events = await gateway.ports.log.read(SessionId(session_id), after=0, limit=20)
        assert sum(isinstance(event.payload, MessageUser) for event in events) == 1


@pytest.mark.thorough
async def test_who_leaves_a_run_that_is_waited_for_gives_up_the_place_and_not_the_run(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = SessionId(await gateway.session(anna))
    for number in range(1, 4):
        waiting = asyncio.create_task(
            gateway.client.post(f"/api/sessions/{session_id}/runs", json={"text": "hello"}, headers=anna)
        )
        async with asyncio.timeout(WAIT_S):
            while len(await gateway.ports.log.read(session_id, after=number, limit=1)) == 0:
                await asyncio.sleep(0.02)
        waiting.cancel()
        await asyncio.wait({waiting})
    async with asyncio.timeout(WAIT_S):
        while await status(gateway, anna) == 429:
            await asyncio.sleep(0.05)
    session = await gateway.client.get(f"/api/sessions/{session_id}", headers=anna)
    assert session.json()["status"] == "queued"
