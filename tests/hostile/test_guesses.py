"""Guessed passwords: whoever guesses is limited, whose name is tried comes in, and nobody says who is somebody else."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Generator

import httpx
import pytest

from backend_api.identity.application.guesses import FREE_TRIES, LONGEST_PAUSE_S
from support.gateway_process import GatewayProcess, run_gateway_process
from support.hurried_gateway import WAITING_MOST
from support.servers import Server

SOURCES = [f"127.0.2.{number}" for number in range(1, 13)]

MANY = 9
NAMES = 2
TIMES = 4
"""So many addresses try so many names, so often each: more than may wait at once."""
assert MANY * NAMES * TIMES > 1.5 * WAITING_MOST

HASHES_S = 8.0
"""For a dozen hashes at once, on a machine that does other things too."""


@pytest.fixture(scope="module")
def gateway(
    mongo_server: Server, redis_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Generator[GatewayProcess]:
    """With no proxy named, and fewer places for tries that wait than in earnest."""
    folder, program = tmp_path_factory.mktemp("gateway"), "support.hurried_gateway"
    with run_gateway_process(folder, mongo_server, "hostile_guesses", redis_server, program=program) as running:
        yield running


def client(gateway: GatewayProcess, source: str) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(local_address=source)
    return httpx.AsyncClient(base_url=gateway.url, transport=transport, timeout=HASHES_S * 10)


async def register(gateway: GatewayProcess, name: str) -> None:
    async with client(gateway, "127.0.3.1") as http:
        body = {"username": name, "password": f"{name}-password"}
        assert (await http.post("/api/auth/register", json=body)).status_code == 201


async def log_in(http: httpx.AsyncClient, name: str, password: str, **headers: str) -> int:
    body = {"username": name, "password": password}
    return (await http.post("/api/auth/login", json=body, headers=headers)).status_code


async def test_who_guesses_a_name_locks_its_owner_out_from_nowhere_else(gateway: GatewayProcess) -> None:
    await register(gateway, "anna")
    async with client(gateway, "127.0.2.100") as guessing, client(gateway, "127.0.2.101") as owner:
        answers = await asyncio.gather(*(log_in(guessing, "anna", f"guess-{number}") for number in range(30)))
        assert (answers.count(401), answers.count(429)) == (10, 20)
        began = time.monotonic()
        assert await log_in(owner, "anna", "anna-password") == 200
        paused_s = time.monotonic() - began
        assert paused_s < LONGEST_PAUSE_S + HASHES_S
        began = time.monotonic()
        assert await log_in(owner, "anna", "anna-password") == 200
        assert time.monotonic() - began < paused_s - LONGEST_PAUSE_S / 2, "a success begins anew"


@pytest.mark.thorough
async def test_many_addresses_that_guess_one_name_are_slowed_and_never_refuse_its_owner(
    gateway: GatewayProcess,
) -> None:
    await register(gateway, "berta")
    clients = [client(gateway, source) for source in SOURCES]
    for number in range(FREE_TRIES):
        assert await log_in(clients[number], "berta", "guess") == 401
    began = time.monotonic()
    seconds: list[float] = []

    async def guess(http: httpx.AsyncClient) -> int:
        status = await log_in(http, "berta", "guess")
        seconds.append(time.monotonic() - began)
        return status

    guessing = [asyncio.create_task(guess(http)) for http in clients]
    await asyncio.sleep(0.5)
    async with client(gateway, "127.0.2.102") as owner:
        assert await log_in(owner, "berta", "berta-password") == 200
        assert time.monotonic() - began < LONGEST_PAUSE_S + HASHES_S
    assert set(await asyncio.gather(*guessing)) == {401}
    assert statistics.median(seconds) > LONGEST_PAUSE_S * 0.9
    for http in clients:
        await http.aclose()


async def test_a_name_nobody_has_is_answered_like_one_somebody_has(gateway: GatewayProcess) -> None:
    await register(gateway, "carla")
    took: dict[str, list[float]] = {"carla": [], "nobody": []}
    words: set[str] = set()
    for source in SOURCES[:FREE_TRIES]:
        async with client(gateway, source) as http:
            for name, seconds in took.items():
                began = time.monotonic()
                answer = await http.post("/api/auth/login", json={"username": name, "password": "guess"})
                seconds.append(time.monotonic() - began)
                assert answer.status_code == 401
                words.add(answer.json()["detail"])
    assert len(words) == 1
    known, unknown = (statistics.median(seconds) for seconds in took.values())
    assert max(known, unknown) < 4 * min(known, unknown) + 0.05


async def test_a_forwarded_address_is_nobodys_word_where_no_proxy_is_named(gateway: GatewayProcess) -> None:
    async with client(gateway, "127.0.0.1") as http:
        answers = [
            await log_in(http, "dora", "guess", **{"X-Forwarded-For": f"203.0.113.{number}"}) for number in range(11)
        ]
    assert answers == [401] * 10 + [429]


async def granted(http: httpx.AsyncClient, name: str) -> dict[str, str]:
    answer = await http.post("/api/auth/login", json={"username": name, "password": f"{name}-password"})
    assert answer.status_code == 200, answer.text
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


async def change(http: httpx.AsyncClient, headers: dict[str, str], old: str) -> httpx.Response:
    body = {"old_password": old, "new_password": "quite another one"}
    return await http.post("/api/auth/password", json=body, headers=headers)


@pytest.mark.quiet
async def test_a_thief_who_guesses_with_a_stolen_token_uses_up_nothing_of_the_owners(gateway: GatewayProcess) -> None:
    await register(gateway, "frida")
    # Both behind one address: what counts is the log-in.
    async with client(gateway, "127.0.2.104") as http:
        stolen, owner = await granted(http, "frida"), await granted(http, "frida")
        began = time.monotonic()
        answers = await asyncio.gather(*(change(http, stolen, f"guess-{number}") for number in range(30)))
        codes = [answer.status_code for answer in answers]
        assert (codes.count(422), codes.count(429)) == (10, 20)
        assert time.monotonic() - began > LONGEST_PAUSE_S * 0.9, "guesses are slowed"
        began = time.monotonic()
        changed = await change(http, owner, "frida-password")
        assert changed.status_code == 200, changed.text
        assert time.monotonic() - began < LONGEST_PAUSE_S + 2
        assert (await change(http, stolen, "quite another one")).status_code == 401


@pytest.mark.thorough
async def test_more_tries_than_may_wait_are_refused_and_none_is_let_go_on_unslowed(gateway: GatewayProcess) -> None:
    await register(gateway, "emma")
    names = ["emma", *(f"name-{number}" for number in range(1, NAMES))]
    async with client(gateway, "127.0.2.200") as first, client(gateway, "127.0.2.201") as second:
        for http in (first, second):
            tries = [log_in(http, name, "guess") for name in names for _ in range(6)]
            assert set(await asyncio.gather(*tries)) == {401}
    unslowed: list[float] = []
    refused: list[httpx.Response] = []
    began = time.monotonic()

    async def guess(http: httpx.AsyncClient, name: str) -> None:
        answer = await http.post("/api/auth/login", json={"username": name, "password": "guess"})
        if answer.status_code == 429:
            refused.append(answer)
        elif time.monotonic() - began < LONGEST_PAUSE_S * 0.9:
            unslowed.append(time.monotonic() - began)

    clients = [client(gateway, f"127.0.4.{number}") for number in range(1, MANY + 1)]
    guessing = [asyncio.create_task(guess(http, name)) for _ in range(TIMES) for name in names for http in clients]
    await asyncio.sleep(1.5)
    async with client(gateway, "127.0.2.103") as owner:
        assert await log_in(owner, "emma", "emma-password") == 200
    await asyncio.gather(*guessing)
    assert unslowed == []
    assert refused
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
    for http in clients:
        await http.aclose()
