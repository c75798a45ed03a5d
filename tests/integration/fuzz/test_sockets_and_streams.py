"""Frames and resume values at random: a socket closes with a documented code or goes on, a stream begins or refuses."""

from __future__ import annotations

import asyncio
import json
import os
import random
from contextlib import suppress
from typing import Any

import pytest
import websockets

from support.fuzzing import SEED
from support.gateway import Gateway, run_gateway
from support.servers import Server

pytestmark = pytest.mark.thorough

ROUNDS = int(os.environ.get("FUZZ_EXAMPLES", "12"))
CLOSE_CODES = {1000, 1003, 1007, 1008, 1009, 1012, 1013, 4401, 4403, 4404, 4408, 4409, 4429}
KINDS = ["message", "interrupt", "cancel", "approval", "answer", "options", "ping", "auth", "", "none", None, 1]
VALUES: list[Any] = [None, True, -1, 1e308, "", "x", "\x00", "\u202e", [], {}, [[]], {"$gt": ""}, "a" * 200_000]
FIELDS = ["text", "attachments", "client_message_id", "approval_id", "decision", "question_id", "answers", "token"]
RESUMES = ["0", "1", "-1", "99999999999999999999", "1e3", "NaN", "²", "0x1", "1 2", "1,2", "null", "a" * 5000, "9" * 15]


def frame(dice: random.Random) -> str | bytes:
    """One frame: RFB-like bytes, broken text, or JSON that is nearly right."""
    kind = dice.randrange(4)
    if kind == 0:
        return dice.randbytes(dice.choice([0, 1, 8, 20, 1000, 70_000]))
    if kind == 1:
        return dice.choice(["", "{", "[]", "null", '"x"', "\x00", "[" * 5000, '{"type": "message", "text": "\\ud800"}'])
    fields = {name: dice.choice(VALUES) for name in dice.sample(FIELDS, dice.randrange(len(FIELDS)))}
    return json.dumps({"type": dice.choice(KINDS)} | fields)


async def send_at_random(url: str, dice: random.Random, **options: Any) -> int:
    """The close code after some frames; 1000 when it was ours to close."""
    async with asyncio.timeout(30), websockets.connect(url, max_size=None, **options) as socket:

        async def drain() -> None:
            with suppress(websockets.ConnectionClosed):
                async for _ in socket:
                    pass

        draining = asyncio.create_task(drain())
        try:
            for _ in range(dice.randrange(1, 12)):
                await socket.send(frame(dice))
        except websockets.ConnectionClosed:
            pass
        await asyncio.wait({draining}, timeout=0.2)
        await socket.close()
        await draining
        return socket.close_code or 0


async def is_well(gateway: Gateway, session_id: str, headers: dict[str, str]) -> bool:
    answer = await gateway.client.get(f"/api/sessions/{session_id}/state", headers=headers)
    return answer.status_code == 200


async def test_no_frame_breaks_a_socket(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> None:
    dice = random.Random(SEED)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway:
        anna = await gateway.user("anna")
        session_id = await gateway.session(anna)
        path, base = f"/api/sessions/{session_id}", gateway.url.replace("http", "ws")
        wrong: list[tuple[str, int]] = []
        for number in range(ROUNDS):
            code = await send_at_random(
                f"{base}{path}/ws?after={dice.choice(RESUMES[:3])}", dice, additional_headers=anna
            )
            asked = await gateway.client.post(f"{path}/vnc/ticket", json={"mode": "control"}, headers=anna)
            screen = await send_at_random(base + asked.json()["url"], dice)
            nobody = await send_at_random(f"{base}{path}/ws", dice) if number < 2 else 4401
            wrong += [(name, code) for name, code in (("ws", code), ("vnc", screen)) if code not in CLOSE_CODES]
            wrong += [("nobody", nobody)] if nobody not in (4401, 1000, 1003, 1007) else []
        assert wrong == [], f"FUZZ_SEED={SEED}"
        assert await is_well(gateway, session_id, anna)


async def test_no_resume_value_breaks_a_stream(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway:
        anna = await gateway.user("anna")
        session_id = await gateway.session(anna)
        await gateway.client.post(f"/api/sessions/{session_id}/messages", json={"text": "hello"}, headers=anna)
        wrong: list[tuple[str, str, int]] = []
        for path in (f"/api/sessions/{session_id}/events", "/api/events"):
            for value in RESUMES:
                in_header: dict[str, Any] = {"headers": anna | {"Last-Event-ID": value.encode()}}
                for request in (in_header, {"headers": anna, "params": {"after": value}}):
                    async with gateway.client.stream("GET", path, **request) as answer:
                        if answer.status_code not in (200, 400, 422):
                            wrong.append((path, value[:20], answer.status_code))
        assert wrong == []
        assert await is_well(gateway, session_id, anna)
