"""The manager's OpenAPI document against the manager on a real database, with sandboxes in memory."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from support.background import in_background
from support.fuzzing import fuzz
from support.hostile import bodies, heads, post, tried
from support.listening_manager import listening_manager
from support.servers import Server
from support.tls import NO_TLS

pytestmark = pytest.mark.thorough

SERVICE_TOKEN = "k7" * 20
HEADERS = {"Authorization": f"Bearer {SERVICE_TOKEN}"}


@pytest.mark.timeout(300)
def test_no_call_breaks_the_manager_or_its_word(
    mongo_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONGO_URI", mongo_server.uri)
    monkeypatch.setenv("SANDBOX_MANAGER_TOKEN", SERVICE_TOKEN)
    with in_background(listening_manager(mongo_server.uri, mongo_database_name)) as (url, _):

        def opened(label: str) -> tuple[dict[str, str], dict[str, str]]:
            with httpx.Client(base_url=url, headers=HEADERS, timeout=30, verify=NO_TLS) as client:
                made = client.post("/sandboxes", json={"session_id": "s1", "user_id": "u1"}).json()
                client.get(f"/sandboxes/{made['id']}", params={"wait_ms": 10_000})
            del label
            return {"sandbox_id": made["id"], "session_id": "s1"}, HEADERS

        # Sandboxes made up by the dozen are more than one stack may have.
        wrong = fuzz(httpx.get(f"{url}/openapi.json", verify=NO_TLS).json(), url, opened)
        assert not wrong, "\n\n".join(wrong)
        assert httpx.get(f"{url}/readyz", timeout=30, verify=NO_TLS).json()["ready"] is True


@pytest.mark.timeout(180)
async def test_the_manager_stands_hostile_bytes(
    mongo_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONGO_URI", mongo_server.uri)
    monkeypatch.setenv("SANDBOX_MANAGER_TOKEN", SERVICE_TOKEN)
    async with (
        listening_manager(mongo_server.uri, mongo_database_name) as url,
        httpx.AsyncClient(base_url=url, headers=HEADERS, timeout=30, verify=NO_TLS) as client,
    ):
        port = int(url.rpartition(":")[2])

        async def opened() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            return await asyncio.open_connection("127.0.0.1", port)

        made = (await client.post("/sandboxes", json={"session_id": "s1", "user_id": "u1"})).json()
        requests = {f"head: {name}": sent for name, sent in heads("/sandboxes", SERVICE_TOKEN).items()}
        for path, field in (
            ("/sandboxes", "session_id"),
            (f"/sandboxes/{made['id']}/tokens", "scopes"),
            ("/workspaces/s1/snapshots?user_id=u1", "name"),
        ):
            requests |= {f"{path}: {name}": post(path, body, SERVICE_TOKEN) for name, body in bodies(field).items()}
        for name, query in (("NUL", "%00"), ("bytes", "%ff%fe"), ("operators", "[$gt]=1"), ("long", "a" * 20_000)):
            for path in (f"/sandboxes?user_id={query}", f"/sandboxes/{query}", f"/sandboxes/events?after={query}"):
                head = f"GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
                bearer = f"Authorization: Bearer {SERVICE_TOKEN}\r\n\r\n"
                requests[f"{path[:30]}: {name}"] = (head + bearer).encode()
        assert await tried(opened, requests) == {}

        listed = (await client.get("/sandboxes", params={"user_id": "u1"})).json()["items"]
        assert [one["id"] for one in listed] == [made["id"]]
        assert (await client.get("/sandboxes", params={"user_id": "u2"})).json()["items"] == []
