"""HEAD is answered as GET, without a body; a stream ends with its head."""

from __future__ import annotations

import asyncio
from pathlib import Path

from backend_api.kit.http.ports import WebOptions
from support.gateway import run_gateway
from support.servers import Server


async def test_head_has_the_head_of_a_get_and_no_body(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text("the page")
    options = WebOptions(frontend=tmp_path)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as gateway:
        anna = await gateway.user("anna")
        session = await gateway.session(anna)
        paths = ("/", "/healthz", "/openapi.json", "/api/auth/me", "/api/sessions", "/api/sessions/none", "/api/none")
        for path in (*paths, f"/api/sessions/{session}"):
            read = await gateway.client.get(path, headers=anna)
            head = await gateway.client.head(path, headers=anna)
            for name in ("content-type", "content-length", "content-security-policy", "cache-control"):
                assert head.headers.get(name) == read.headers.get(name), (path, name)
            assert (head.status_code, head.content) == (read.status_code, b""), path
        assert (await gateway.client.head("/api/sessions")).status_code == 401
        wrong = await gateway.client.head("/api/auth/login")
        assert (wrong.status_code, wrong.headers["content-type"]) == (405, "application/problem+json")


async def test_head_of_a_stream_ends_and_leaves_its_place_to_others(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    options = WebOptions()
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as gateway:
        anna = await gateway.user("anna")
        session = await gateway.session(anna)
        # More than anybody may have open at a time.
        for path in (*["/api/events"] * 60, f"/api/sessions/{session}/events"):
            async with asyncio.timeout(10):
                head = await gateway.client.head(path, headers=anna)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-type"].startswith("text/event-stream")
