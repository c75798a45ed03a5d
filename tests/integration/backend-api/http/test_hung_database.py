"""A database that hangs, though its machine answers, is told to the client in ten seconds, and doubles nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.mongo.transactions import DEADLINE_S
from support.backend_stores import mongo_stores
from support.gateway import run_gateway
from support.servers import Server, run_mongod

pytestmark = pytest.mark.thorough

BOUND_S = DEADLINE_S + 4
"""The rest is for a machine with other things to do."""
MESSAGES = 12


def is_stopped(pid: int) -> bool:
    """Whether each of its threads is: the last ones may go on for a moment."""
    states = [task.read_text().rpartition(")")[2].split()[0] for task in Path(f"/proc/{pid}/task").glob("*/stat")]
    return set(states) == {"T"}


@contextmanager
def hanging(server: Server) -> Iterator[None]:
    os.kill(server.pid, signal.SIGSTOP)
    try:
        until = time.monotonic() + 5
        while not is_stopped(server.pid):
            assert time.monotonic() < until, "mongod goes on"
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


# The driver leaves a socket to its destructor where a deadline ends it while it connects.
@pytest.mark.filterwarnings("ignore:unclosed <socket.socket:ResourceWarning")
async def test_every_request_is_answered_and_what_was_sent_meanwhile_is_stored_once(
    redis_server: Server, tmp_path: Path
) -> None:
    with run_mongod(tmp_path) as mongo:
        async with run_gateway(mongo.uri, "app", redis_server.uri) as gateway:
            anna = await gateway.user("anna")
            session = await gateway.session(anna)
            url = f"/api/sessions/{session}"

            async def timed(method: str, path: str, body: object = None) -> tuple[httpx.Response, float]:
                began = time.monotonic()
                answer = await gateway.client.request(method, path, json=body, headers=anna, timeout=60)
                return answer, time.monotonic() - began

            async def send(number: int) -> httpx.Response:
                message = {"text": f"hello {number}", "client_message_id": f"m{number}"}
                return (await timed("POST", f"{url}/messages", message))[0]

            # Some of them are in the middle of their transactions then.
            sending = [asyncio.create_task(send(number)) for number in range(MESSAGES)]
            await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
            with hanging(mongo):
                answers = await asyncio.gather(
                    timed("GET", "/api/sessions"),
                    timed("GET", url),
                    timed("PATCH", url, {"title": "other"}),
                    timed("POST", "/api/sessions", {}),
                    timed("POST", "/api/auth/login", {"username": "anna", "password": "anna-password"}),
                    *(timed("GET", f"{url}/events?after=0") for _ in range(8)),
                )
                first = await asyncio.gather(*sending)
            assert {answer.status_code for answer, _ in answers} == {503}
            assert all(answer.json()["retryable"] for answer, _ in answers)
            assert max(took_s for _, took_s in answers) < BOUND_S
            assert {answer.status_code for answer in first} <= {202, 503}

            async with asyncio.timeout(60):
                for number in range(MESSAGES):
                    while (await send(number)).status_code != 202:
                        await asyncio.sleep(0.2)
            stored = await gateway.ports.log.read(session, after=0, limit=1000)
            sent = Counter(getattr(event.payload, "client_message_id", None) for event in stored)
            assert [sent[f"m{number}"] for number in range(MESSAGES)] == [1] * MESSAGES
            assert [event.seq for event in stored] == list(range(1, len(stored) + 1))
            found = await gateway.client.get("/api/sessions", headers=anna)
            assert found.status_code == 200


async def test_how_far_the_silent_streams_are_is_not_waited_for(tmp_path: Path) -> None:
    with run_mongod(tmp_path) as mongo:
        async with mongo_stores(mongo.uri, "app") as stores:
            session = await stores.session()
            with hanging(mongo):
                began = time.monotonic()
                with pytest.raises(StoreUnavailableError):
                    await stores.log.heads([session])
                assert time.monotonic() - began < DEADLINE_S / 2
            assert await stores.log.heads([session]) == {session: 0}
