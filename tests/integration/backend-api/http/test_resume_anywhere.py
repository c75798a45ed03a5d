"""Readers that come and go at random, at any gateway, by SSE and by socket, see every event exactly once, in order.

Never is a wrong letter shown; also when Redis is emptied meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import redis
import websockets

from backend_api.agent.events import (
    FilesChanged,
    MessageCompleted,
    MessageDelta,
    MessageUser,
    RunFinished,
    ThinkingCompleted,
    ThinkingDelta,
)
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.domain.entity import Lease
from backend_api.kit.ids import SessionId
from support.gateway import Gateway
from support.servers import Server
from support.streams import WAIT_S, reading

ANSWERS = 12
LETTERS = "aß中\U0001f600 \n"


class Writer:
    """Plays the worker of a run in one process."""

    def __init__(self, gateway: Gateway, lease: Lease, chance: random.Random) -> None:
        self.gateway = gateway
        self.lease = lease
        self.chance = chance
        self.texts: dict[str, str] = {}

    async def write(self, identifier: str) -> None:
        """A text piece by piece, then stored."""
        stream, run = self.gateway.ports.stream, self.lease.run
        is_thinking = self.chance.random() < 0.3
        offset = 0
        whole = "".join(self.chance.choices(LETTERS, k=self.chance.randint(20, 200)))
        self.texts[identifier] = whole
        while offset < len(whole):
            piece = whole[offset : offset + self.chance.randint(1, 9)]
            kind = ThinkingDelta if is_thinking else MessageDelta
            await stream.show(run.session_id, run.id, kind(message_id=identifier, offset=offset, text=piece))
            offset += len(piece)
            await asyncio.sleep(self.chance.choice((0, 0, 0.002)))
        done = ThinkingCompleted if is_thinking else MessageCompleted
        await self.record(done(message_id=identifier, text=whole))
        if self.chance.random() < 0.5:
            await self.record(*[FilesChanged(paths=["a"], origin="agent")] * self.chance.randint(1, 4))

    async def record(self, *payloads: MessageCompleted | ThinkingCompleted | FilesChanged) -> None:
        ports = self.gateway.ports
        events = await ports.ledger.record(self.lease, [NewEvent(payload=payload) for payload in payloads])
        await ports.stream.append(self.lease.run.session_id, events)

    async def finish(self) -> None:
        ports, run = self.gateway.ports, self.lease.run
        events = await ports.ledger.finish(self.lease, RunFinished(run_id=run.id, status="completed"), seen_seq=99_999)
        await ports.stream.append(run.session_id, events)


@asynccontextmanager
async def connected(
    gateway: Gateway, session_id: str, headers: dict[str, str], after: int, *, by_socket: bool
) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
    """The events' data by either transport."""
    if by_socket:
        url = f"{gateway.url.replace('http', 'ws')}/api/sessions/{session_id}/ws?after={after}"
        async with websockets.connect(url, additional_headers=headers, max_size=None) as socket:

            async def said() -> AsyncIterator[dict[str, Any]]:
                while True:
                    async with asyncio.timeout(WAIT_S):
                        yield json.loads(await socket.recv())

            yield said()
    else:
        path = f"/api/sessions/{session_id}/events"
        async with reading(gateway.client, path, headers, last_id=str(after)) as reader:

            async def framed() -> AsyncIterator[dict[str, Any]]:
                while True:
                    frame = await reader.next()
                    assert frame.id == (None if frame.data["seq"] is None else str(frame.data["seq"]))
                    yield frame.data

            yield framed()


class View:
    """What a client keeps over its connections."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.stored: list[str] = []
        self.is_over = False

    @property
    def last(self) -> int:
        return len(self.stored)

    def take(self, data: dict[str, Any], shown: dict[str, str]) -> None:
        """`shown` is what this connection showed of each text."""
        if data["seq"] is not None:
            assert data["seq"] == self.last + 1
            self.stored.append(json.dumps(data))
            self.is_over = data["type"] == "run.finished"
            if "text" in data:
                assert data["text"] == self.texts.get(data["message_id"], data["text"])
                shown.pop(data["message_id"], None)
        else:
            identifier = data["message_id"]
            assert data["offset"] == len(shown.get(identifier, ""))
            shown[identifier] = shown.get(identifier, "") + data["text"]
            assert self.texts[identifier].startswith(shown[identifier])


async def follow(
    gateways: list[Gateway], session_id: str, headers: dict[str, str], view: View, chance: random.Random
) -> None:
    while not view.is_over:
        gateway, by_socket = chance.choice(gateways), chance.random() < 0.5
        shown: dict[str, str] = {}
        async with connected(gateway, session_id, headers, view.last, by_socket=by_socket) as events:
            with suppress(EOFError, websockets.ConnectionClosed):
                for _ in range(chance.randint(1, 60)):
                    view.take(await anext(events), shown)
                    if view.is_over:
                        break


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.thorough) for one in (1, 2))])
async def test_every_reader_sees_the_same_exactly_once(
    gateways: list[Gateway], redis_server: Server, seed: int
) -> None:
    chance = random.Random(seed)
    anna = await gateways[0].user("anna")
    session_id = SessionId(await gateways[0].session(anna))
    me = (await gateways[0].client.get("/api/auth/me", headers=anna)).json()["id"]
    ledger = gateways[0].ports.ledger
    await ledger.accept(session_id, me, MessageUser(message_id="u", text="hello"))
    lease = await ledger.claim("w", lease_s=60, model="demo")
    assert lease is not None
    writer = Writer(gateways[0], lease, chance)
    views = [View(writer.texts) for _ in range(3)]

    async def write() -> None:
        for number in range(ANSWERS):
            if number in (ANSWERS // 3, ANSWERS // 2):
                with redis.Redis.from_url(redis_server.uri) as client:
                    client.flushall()
            await writer.write(f"m{number}")
        await writer.finish()

    async with asyncio.timeout(90), asyncio.TaskGroup() as group:
        for number, view in enumerate(views):
            group.create_task(follow(gateways, session_id, anna, view, random.Random(f"{seed}-{number}")))
        group.create_task(write())
    stored = await gateways[1].ports.log.read(session_id, after=0, limit=1000)
    assert [view.last for view in views] == [len(stored)] * 3
    assert views[0].stored == views[1].stored == views[2].stored


async def test_thousands_of_missed_events_come_back_from_any_gateway(gateways: list[Gateway]) -> None:
    anna = await gateways[0].user("anna")
    session_id = SessionId(await gateways[0].session(anna))
    path = f"/api/sessions/{session_id}/events"
    async with reading(gateways[0].client, path, anna) as near:
        for _ in range(6):
            events = await gateways[0].ports.log.append(session_id, [FilesChanged(paths=["a"], origin="user")] * 500)
            await gateways[0].ports.stream.append(session_id, events)
        assert [frame.data["seq"] for frame in await near.take_frames(3000)] == list(range(1, 3001))
    async with reading(gateways[1].client, path, anna, last_id="17") as far:
        assert [frame.data["seq"] for frame in await far.take_frames(2983)] == list(range(18, 3001))
    async with reading(gateways[1].client, path, anna, last_id="999999") as ahead:
        events = await gateways[0].ports.log.append(session_id, [FilesChanged(paths=["b"], origin="user")])
        await gateways[0].ports.stream.append(session_id, events)
        assert (await ahead.next()).data["seq"] == 3001


async def test_history_is_paged_in_both_directions(gateways: list[Gateway]) -> None:
    gateway = gateways[0]
    anna = await gateway.user("anna")
    session_id = SessionId(await gateway.session(anna))
    await gateway.ports.log.append(session_id, [FilesChanged(paths=["a"], origin="user")] * 25)

    async def page(query: str) -> tuple[list[int], bool]:
        found = await gateway.client.get(
            f"/api/sessions/{session_id}/events?format=json&limit=10&{query}", headers=anna
        )
        assert found.json()["last_seq"] == 25
        return [item["seq"] for item in found.json()["items"]], found.json()["has_more"]

    assert await page("after=0") == (list(range(1, 11)), True)
    assert await page("after=20") == (list(range(21, 26)), False)
    assert await page("before=26") == (list(range(16, 26)), True)
    assert await page("before=11") == (list(range(1, 11)), False)
    assert await page("before=1") == ([], False)
    assert await page("before=9007199254740992") == (list(range(16, 26)), True)


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("format=json&before=5&after=2", "query.before", "leave it out with `after`"),
        pytest.param("before=5", "query.before", "leave it out with a stream", marks=pytest.mark.thorough),
        pytest.param("format=json&before=-1", "query.before", "greater than or equal to 0", marks=pytest.mark.thorough),
        ("format=json&before=soon", "query.before", "valid integer"),
        pytest.param(
            "format=json&before=9&limit=0", "query.limit", "greater than or equal to 1", marks=pytest.mark.thorough
        ),
    ],
)
async def test_a_page_that_cannot_be_is_refused_with_words(
    gateways: list[Gateway], query: str, field: str, words: str
) -> None:
    gateway = gateways[0]
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    answer = await gateway.client.get(f"/api/sessions/{session_id}/events?{query}", headers=anna)
    assert answer.status_code == 422
    told = answer.json()
    assert words in json.dumps(told)
    assert field in json.dumps(told)
