"""Law 1: Redis may go at any moment and only live streaming hiccups."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support.gateway import run_gateway
from support.servers import Server, run_redis


async def test_without_redis_messages_are_accepted_and_readers_go_on(
    mongo_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    with run_redis(tmp_path) as redis:
        async with run_gateway(mongo_server.uri, mongo_database_name, redis.uri) as gateway:
            anna = await gateway.user("anna")
            url = f"/api/sessions/{await gateway.session(anna)}"
            async with gateway.client.stream("GET", f"{url}/events", headers=anna) as answer:
                lines = answer.aiter_lines()
                redis.process.kill()
                redis.process.wait(30)
                accepted = await gateway.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)
                assert accepted.status_code == 202
                seen = []
                async with asyncio.timeout(30):
                    async for line in lines:
                        if line.startswith("event: "):
                            seen.append(line[7:])
                        if len(seen) == 2:
                            break
                assert seen == ["message.user", "run.queued"]
            refused = await gateway.client.post(f"{url}/vnc/ticket", json={"mode": "view"}, headers=anna)
            assert (refused.status_code, refused.json()["retryable"]) == (503, True)
            ready = await gateway.client.get("/readyz")
            assert ready.status_code == 200
