"""Bytes no honest client sends: never a 5xx, never a hang, and the server is as well afterwards as before."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from support.endpoint import running_endpoint
from support.gateway import run_gateway
from support.hostile import bodies, forms, heads, post, tried
from support.servers import Server

pytestmark = pytest.mark.thorough


async def test_the_gateway_stands_hostile_bytes(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway:
        anna = await gateway.user("anna")
        token, session = anna["Authorization"].removeprefix("Bearer "), await gateway.session(anna)
        port = int(gateway.url.rpartition(":")[2])

        async def opened() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            return await asyncio.open_connection("127.0.0.1", port)

        base = f"/api/sessions/{session}"
        requests = {f"head: {name}": sent for name, sent in heads("/api/sessions", token).items()}
        for path, field in (
            ("/api/sessions", "title"),
            (f"{base}/messages", "text"),
            (f"{base}/files/link", "path"),
            (f"{base}/vnc/ticket", "mode"),
            ("/api/auth/login", "username"),
            ("/api/auth/register", "password"),
            ("/api/auth/refresh", "refresh_token"),
        ):
            requests |= {f"{path}: {name}": post(path, body, token) for name, body in bodies(field).items()}
        requests |= {f"form: {name}": sent for name, sent in forms(f"{base}/files", token).items()}
        assert await tried(opened, requests) == {}
        assert (await gateway.client.get(f"{base}/state", headers=anna)).status_code == 200


async def test_the_endpoint_stands_hostile_bytes(tmp_path: Path) -> None:
    with running_endpoint(tmp_path) as endpoint:
        token = endpoint.keys.token()

        async def opened() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            return await asyncio.open_unix_connection(str(endpoint.socket))

        requests = {f"head: {name}": sent for name, sent in heads("/tools/file_read", token).items()}
        for path, field in (("/tools/file_read", "call_id"), ("/tools/shell_exec", "arguments")):
            requests |= {f"{path}: {name}": post(path, body, token) for name, body in bodies(field).items()}
        requests |= {f"form: {name}": sent for name, sent in forms("/files", token).items()}
        assert await tried(opened, requests) == {}
        assert endpoint.call("file_list", path=".").success
        outside = [path for path in tmp_path.iterdir() if path.name not in ("workspace", "door.sock", "log")]
        assert outside == []


HOSTILE_TEXTS = [
    "\ud800",
    "a\x00b",
    "\udfff" * 10,
    "a" * 300_000,
    "../" * 2000,
    "..%2f..%2fetc",
    "\u202egpj.exe",
    "~root/x",
]


def test_no_argument_breaks_a_tool(tmp_path: Path) -> None:
    with running_endpoint(tmp_path) as endpoint, endpoint.client(timeout_s=60) as client:
        wrong: list[tuple[str, str, str, int]] = []
        for tool in client.get("/tools").json():
            fields: dict[str, Any] = tool["parameters"]["properties"]
            texts = [name for name, schema in fields.items() if "string" in str(schema)]
            for name in texts if not tool["name"].startswith("shell_") else []:
                for text in HOSTILE_TEXTS:
                    arguments = dict.fromkeys(tool["parameters"].get("required", []), "a") | {name: text}
                    body = json.dumps({"call_id": endpoint.new_call(), "arguments": arguments})
                    headers = {"Content-Type": "application/json"}
                    answer = client.post(f"/tools/{tool['name']}", content=body, headers=headers)
                    if answer.status_code not in (200, 409, 413, 422):
                        wrong.append((tool["name"], name, text[:20], answer.status_code))
        assert wrong == []
        for text in HOSTILE_TEXTS[:3]:
            body = json.dumps({"call_id": endpoint.new_call(), "arguments": {"command": text}})
            answer = client.post("/tools/shell_exec", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code in (200, 422), text
        assert {path.name for path in tmp_path.iterdir()} == {"workspace", "door.sock", "log"}
