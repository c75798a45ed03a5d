"""Who asks too often or has too much is told when to come back; nobody pays for another."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets

from backend_api.identity.application.limits import Limits
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.identity.redis import RedisRateLimiter
from backend_api.kit.errors import LimitError
from backend_api.kit.redis.client import connect_redis
from support.gateway import run_gateway
from support.servers import Server, run_redis

TWO = Limits(
    login_per_minute=2,
    register_per_hour=2,
    messages_per_minute=2,
    refresh_per_minute=2,
    sessions_per_minute=2,
    uploads_per_minute=2,
    tickets_per_minute=2,
    sessions_in_all=0,
)


@pytest.fixture(autouse=True)
async def _nothing_counted(redis_server: Server) -> None:
    """Other tests called from the same address."""
    redis = connect_redis(redis_server.uri, connect_s=1, reads_for_s=1)
    await redis.flushall()
    await redis.aclose()


def told_to_wait(answer: httpx.Response, at_most: int = 60) -> bool:
    is_problem = answer.headers["content-type"] == "application/problem+json" and answer.json()["retryable"]
    return answer.status_code == 429 and is_problem and 1 <= int(answer.headers["retry-after"]) <= at_most


async def test_every_limit_tells_its_user_alone_when_to_come_back(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, limits=TWO) as gateway:
        anna, bert = await gateway.user("anna"), await gateway.user("bert")
        session = f"/api/sessions/{await gateway.session(anna)}"
        await gateway.session(anna)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("/api/sessions", {"json": {}, "headers": anna}),
            (f"{session}/messages", {"json": {"text": "a"}, "headers": anna}),
            (f"{session}/files", {"files": {"files": ("a.txt", b"a")}, "headers": anna}),
            (f"{session}/vnc/ticket", {"json": {"mode": "view"}, "headers": anna}),
            ("/api/auth/refresh", {"json": {"refresh_token": "x"}}),
            ("/api/auth/register", {"json": {"username": "carl", "password": "carl-password"}}),
        ]
        for url, request in calls:
            answers = [await gateway.client.post(url, **request) for _ in range(3)]
            assert told_to_wait(answers[-1], 3600), url
        named = [await gateway.client.patch(session, json={"title": title}, headers=anna) for title in "abc"]
        assert [answer.status_code for answer in named[:2]] == [200, 200]
        assert told_to_wait(named[2])
        changes: list[tuple[str, str, dict[str, Any]]] = [
            ("POST", "queue/order", {"ids": []}),
            ("DELETE", "queue/none", {}),
            ("POST", "control", {"client": "a-window"}),
            ("DELETE", "control", {"note": "x"}),
            ("POST", "resources", {"title": "a", "kind": "link", "link": "https://example.org"}),
            ("PUT", "draft", {"text": "a", "version": 0}),
            ("DELETE", "draft?version=0", {}),
            ("POST", "tasks", {"subject": "a"}),
            ("PUT", "path", {"message_id": "none"}),
            ("POST", "messages/none/undo", {}),
            ("DELETE", "branches/none", {}),
            ("DELETE", "messages/none", {}),
            ("POST", "ports", {"port": 3000}),
            ("DELETE", "ports/none", {}),
        ]
        for method, path, body in changes:
            answer = await gateway.client.request(method, f"{session}/{path}", json=body, headers=anna)
            assert told_to_wait(answer), path
        assert (await gateway.client.post("/api/sessions", json={}, headers=bert)).status_code == 201


async def test_a_limit_on_a_socket_tells_when_to_come_back_and_leaves_it_open(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, limits=TWO) as gateway:
        anna = await gateway.user("anna")
        address = f"{gateway.url.replace('http', 'ws')}/api/sessions/{await gateway.session(anna)}/ws"
        async with websockets.connect(address, additional_headers=anna) as socket:
            for _ in range(3):
                await socket.send(json.dumps({"type": "message", "text": "a"}))
            await socket.send(json.dumps({"type": "ping"}))
            frames: list[dict[str, Any]] = []
            async with asyncio.timeout(20):
                while not frames or frames[-1]["type"] != "pong":
                    frames.append(json.loads(await socket.recv()))
        (error,) = (frame for frame in frames if frame["type"] == "error")
        assert (error["code"], error["retryable"]) == ("limit", True)
        assert 1000 <= error["retry_after_ms"] <= 60_000


async def test_log_ins_are_counted_by_address_and_name_together_and_a_success_begins_anew(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, limits=TWO, trusted_proxies=("127.0.0.1",)
    ) as gateway:

        async def try_as(name: str, address: str, password: str = "wrong") -> int:
            body, headers = {"username": name, "password": password}, {"X-Forwarded-For": address}
            return (await gateway.client.post("/api/auth/login", json=body, headers=headers)).status_code

        await gateway.user("anna")
        assert [await try_as("anna", "192.0.2.1") for _ in range(3)] == [401, 401, 429]
        assert await try_as("anna", "192.0.2.2", "anna-password") == 200
        assert [await try_as("anna", "192.0.2.2") for _ in range(3)] == [401, 401, 429]
        assert [await try_as("anna", "192.0.2.3", "anna-password") for _ in range(3)] == [200, 200, 200]


async def test_an_address_is_limited_over_all_names_and_one_of_ipv6_with_its_network(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, limits=TWO, trusted_proxies=("127.0.0.1",)
    ) as gateway:

        async def tries(addresses: list[str]) -> list[int]:
            return [
                (
                    await gateway.client.post(
                        "/api/auth/login",
                        json={"username": f"user-{number}", "password": "wrong"},
                        headers={"X-Forwarded-For": address},
                    )
                ).status_code
                for number, address in enumerate(addresses)
            ]

        assert await tries(["192.0.2.1"] * 11) == [401] * 10 + [429]
        assert await tries([f"2001:db8:1:2::{number}" for number in range(1, 12)]) == [401] * 10 + [429]
        assert await tries(["2001:db8:1:3::1"]) == [401]


async def test_a_peer_that_is_no_trusted_proxy_speaks_for_itself_alone(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, limits=TWO) as gateway:
        tries = [
            await gateway.client.post(
                "/api/auth/login",
                json={"username": f"user-{number}", "password": "wrong"},
                headers={"X-Forwarded-For": f"192.0.2.{number}"},
            )
            for number in range(11)
        ]
        assert [answer.status_code for answer in tries] == [401] * 10 + [429]


async def test_who_has_as_many_sessions_as_one_may_have_gets_no_more_until_one_goes(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    limits = Limits(sessions_in_all=2)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, limits=limits) as gateway:
        anna, bert = await gateway.user("anna"), await gateway.user("bert")
        sessions = [await gateway.session(anna), await gateway.session(anna)]
        refused = await gateway.client.post("/api/sessions", json={}, headers=anna)
        assert told_to_wait(refused)
        assert refused.json()["code"] == "session_quota"
        await gateway.session(bert)
        await gateway.client.delete(f"/api/sessions/{sessions[0]}", headers=anna)
        await gateway.session(anna)


async def test_log_ins_stay_limited_while_redis_is_emptied_and_gone(tmp_path: Path) -> None:
    with run_redis(tmp_path) as server:
        redis = connect_redis(server.uri, connect_s=1, reads_for_s=1)
        limiter = RedisRateLimiter(redis)
        await limiter.hit("login:anna", limit=3, window_s=60)
        await redis.flushall()
        await limiter.hit("login:anna", limit=3, window_s=60)
        server.process.kill()
        server.process.wait(10)
        await limiter.hit("login:anna", limit=3, window_s=60)
        with pytest.raises(LimitError):
            await limiter.hit("login:anna", limit=3, window_s=60)
        await redis.aclose()


async def test_one_window_holds_for_all_replicas(redis_server: Server) -> None:
    redis = connect_redis(redis_server.uri, connect_s=1, reads_for_s=1)
    first, second = RedisRateLimiter(redis), RedisRateLimiter(redis)
    await first.hit("login:bert", limit=1, window_s=60)
    with pytest.raises(LimitError):
        await second.hit("login:bert", limit=1, window_s=60)
    await redis.aclose()


async def test_names_made_up_without_end_take_bounded_memory() -> None:
    limiter = InProcessRateLimiter()
    for number in range(25_000):
        await limiter.hit(f"login:{number}", limit=1, window_s=60)
    assert len(limiter._windows) <= 10_000
    with pytest.raises(LimitError):
        await limiter.hit("login:24999", limit=1, window_s=60)
