"""What a run waits for, decided, stopped, interrupted and answered at two gateways at the same moments."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets

from support.gateway_process import GatewayProcess, run_gateway_process
from support.model_server import Answer, Call, ModelServer
from support.servers import Server
from support.tls import NO_TLS

SEEDS = 6
AT_ONCE = 10
SPREAD_S = 0.03
WAIT_S = 40.0
CALLS = 3
LIMITS = httpx.Limits(keepalive_expiry=2.0)
"""A gateway ends connections that were idle for longer, perhaps just as they are used."""
Json = dict[str, Any]

pytestmark = pytest.mark.timeout(240)


def respond(body: Json) -> Answer:
    """Asks for three calls that need approval and one question; once it has their results, it ends."""
    if body["messages"][-1]["role"] == "tool":
        return Answer(texts=("Done.",))
    held = [
        Call(name="file_delete", arguments='{"path": "a"}', id=f"call_{secrets.token_hex(4)}") for _ in range(CALLS)
    ]
    question = {"questions": [{"question": "Which?", "options": ["red", "blue"]}]}
    asks = Call(name="ask_user", arguments=json.dumps(question), id=f"call_{secrets.token_hex(4)}")
    return Answer(texts=("I ask.",), calls=(*held, asks))


@pytest.fixture
async def provider() -> AsyncGenerator[ModelServer]:
    async with ModelServer(respond=respond) as server:
        yield server


@pytest.fixture
def gateways(
    tmp_path: Path, mongo_server: Server, redis_server: Server, mongo_database_name: str, provider: ModelServer
) -> Iterator[list[GatewayProcess]]:
    settings = {
        "AUTH_MODE": "password",
        "JWT_SECRET_KEY": secrets.token_hex(32),
        "LLM_PROVIDER": "openai",
        "OPENAI_API_KEY": "sk-0123456789",
        "OPENAI_BASE_URL": provider.openai_url,
        "MODEL": "m",
        "RATE_LIMITS": "messages=0",
    }
    with ExitStack() as stack:
        started: list[GatewayProcess] = []
        for name in ("one", "other"):
            folder = tmp_path / name
            folder.mkdir()
            running = run_gateway_process(folder, mongo_server, mongo_database_name, redis_server, **settings)
            started.append(stack.enter_context(running))
        yield started


class Person:
    """One account at both gateways, by HTTP and by a socket at each."""

    def __init__(self, clients: list[httpx.AsyncClient], token: str) -> None:
        self.clients = clients
        self.token = token
        self.sockets: list[websockets.ClientConnection] = []

    async def events(self, session_id: str) -> list[Json]:
        answer = await self.clients[0].get(f"/sessions/{session_id}/events?format=json&limit=1000")
        return answer.json()["items"]

    async def status(self, session_id: str) -> str:
        return (await self.clients[0].get(f"/sessions/{session_id}")).json()["status"]

    async def until(self, session_id: str, *statuses: str) -> None:
        async with asyncio.timeout(WAIT_S):
            while await self.status(session_id) not in statuses:
                await asyncio.sleep(0.05)


@pytest.fixture
async def person(gateways: list[GatewayProcess]) -> AsyncGenerator[Person]:
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                httpx.AsyncClient(base_url=f"{gateway.url}/api", timeout=WAIT_S, limits=LIMITS, verify=NO_TLS)
            )
            for gateway in gateways
        ]
        made = await clients[0].post("/auth/register", json={"username": "anna", "password": "anna-password"})
        token = made.json()["access_token"]
        for client in clients:
            client.headers["Authorization"] = f"Bearer {token}"
        yield Person(clients, token)


class Race:
    """One session whose run waits, and what was answered to those who decided at once."""

    def __init__(self, person: Person, session_id: str, seed: int, waits: list[Json]) -> None:
        self.person = person
        self.session_id = session_id
        self.dice = random.Random(seed)
        (self.approval,) = [one for one in waits if one["type"] == "approval.requested"]
        (self.question,) = [one for one in waits if one["type"] == "question.asked"]
        self.call_ids = [call["call_id"] for call in self.approval["calls"]]
        self.taken: list[tuple[str, list[str], str]] = []
        self.answered = 0

    async def act(self, number: int) -> None:
        await asyncio.sleep(self.dice.random() * SPREAD_S)
        kinds = ["approve", "deny", "approve", "deny", "approve_all", "answer", "answer", "stop", "say", "interrupt"]
        kind = self.dice.choice(kinds)
        at = self.dice.randrange(2)
        if self.dice.random() < 0.3 and kind != "answer":
            await self._by_frame(kind, self.person.sockets[at])
        else:
            await self._by_call(kind, self.person.clients[at], number)

    def _decision(self, kind: str) -> Json:
        some = self.dice.sample(self.call_ids, self.dice.randint(1, CALLS))
        return {"decision": kind} | ({"call_ids": some} if self.dice.random() < 0.7 else {})

    async def _by_frame(self, kind: str, socket: websockets.ClientConnection) -> None:
        frame: Json = {"type": "cancel"} if kind == "stop" else {"type": "interrupt", "text": "Stop that."}
        if kind == "say":
            frame = {"type": "message", "text": "By the way."}
        elif kind in ("approve", "deny", "approve_all"):
            frame = {"type": "approval", "approval_id": self.approval["approval_id"], **self._decision(kind)}
        await socket.send(json.dumps(frame))

    async def _by_call(self, kind: str, client: httpx.AsyncClient, number: int) -> None:
        at = f"/sessions/{self.session_id}"
        match kind:
            case "stop":
                answer, fine = await client.post(f"{at}/stop"), {202, 204}
            case "say" | "interrupt":
                body = {"text": f"Word {number}.", "interrupt": kind == "interrupt"}
                answer, fine = await client.post(f"{at}/messages", json=body), {202}
            case "answer":
                ids = [one["id"] for one in self.question["questions"]]
                body = {"answers": dict.fromkeys(ids, self.dice.choice(["red", "blue"]))}
                answer = await client.post(f"{at}/questions/{self.question['question_id']}", json=body)
                fine = {200, 409}
                self.answered += answer.status_code == 200
            case _:
                body = self._decision(kind)
                answer = await client.post(f"{at}/approvals/{self.approval['approval_id']}", json=body)
                fine = {200, 409}
                if answer.status_code == 200:
                    self.taken.append((answer.json()["decision"], answer.json()["call_ids"], "user"))
        assert answer.status_code in fine, (kind, answer.status_code, answer.text)

    def check(self, events: list[Json]) -> None:
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        of_kind = {kind: [one for one in events if one["type"] == kind] for kind in {one["type"] for one in events}}
        resolved = [one for one in of_kind.get("approval.resolved", []) if one["call_ids"]]
        decisions: dict[str, Json] = {}
        for one in resolved:
            for call_id in one["call_ids"]:
                assert call_id not in decisions, "a call was decided twice"
                decisions[call_id] = one
        assert set(decisions) >= set(self.call_ids), "a call was never decided"
        by_user = [(one["decision"], sorted(one["call_ids"])) for one in resolved if one["by"] == "user"]
        for decision, call_ids, _ in self.taken:
            assert (decision, sorted(call_ids)) in by_user, "an answer of 200 was not kept"
        began = Counter(one["call_id"] for one in of_kind.get("tool.started", []))
        ended = Counter(one["call_id"] for one in of_kind.get("tool.finished", []))
        for call in of_kind.get("tool.called", []):
            assert ended[call["call_id"]] == 1, "a call has not one result"
            assert began[call["call_id"]] <= 1, "a call ran twice"
        for call_id, one in decisions.items():
            assert one["decision"] != "deny" or began[call_id] == 0, "a denied call ran"
            (result,) = [end for end in of_kind["tool.finished"] if end["call_id"] == call_id]
            assert not result["success"] or began[call_id] == 1
        asked = [one["question_id"] for one in of_kind.get("question.asked", [])]
        told = Counter(one["question_id"] for one in of_kind.get("question.answered", []))
        assert told == Counter(asked), "a question was not answered once"
        mine = [one for one in of_kind["question.answered"] if one["question_id"] == self.question["question_id"]]
        assert self.answered == sum(one["by"] == "user" for one in mine), "who answered was not told so"
        runs = {one["run_id"] for one in of_kind["run.queued"]}
        assert Counter(one["run_id"] for one in of_kind["run.finished"]) == Counter(runs)


async def answered(socket: websockets.ClientConnection) -> None:
    """All that was said before on this socket has been carried out then."""
    await socket.send('{"type": "ping"}')
    async with asyncio.timeout(WAIT_S):
        while json.loads(await socket.recv())["type"] != "pong":
            pass


async def race(person: Person, gateways: list[GatewayProcess], seed: int) -> None:
    made = await person.clients[0].post("/sessions", json={"options": {"asked_tools": ["file_delete"]}})
    session_id = made.json()["id"]
    async with AsyncExitStack() as stack:
        person.sockets = [
            await stack.enter_async_context(
                websockets.connect(
                    f"{gateway.url.replace('http', 'ws')}/api/sessions/{session_id}/ws?after=0",
                    additional_headers={"Authorization": f"Bearer {person.token}"},
                    max_queue=None,
                )
            )
            for gateway in gateways
        ]
        await person.clients[0].post(f"/sessions/{session_id}/messages", json={"text": "go"})
        await person.until(session_id, "waiting")
        racing = Race(person, session_id, seed, await person.events(session_id))
        await asyncio.gather(*(racing.act(number) for number in range(AT_ONCE)))
        await asyncio.gather(*(answered(socket) for socket in person.sockets))
        await person.until(session_id, "waiting", "idle")
        # What goes on after that may ask again, or wait for what nobody decided.
        while await person.status(session_id) != "idle":
            await person.clients[1].post(f"/sessions/{session_id}/stop")
            await person.until(session_id, "waiting", "idle")
        racing.check(await person.events(session_id))


async def test_whatever_is_said_at_two_gateways_at_once_decides_each_thing_once(
    gateways: list[GatewayProcess], person: Person
) -> None:
    for seed in range(SEEDS):
        try:
            await race(person, gateways, seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    for gateway in gateways:
        assert "Traceback" not in gateway.logged()
