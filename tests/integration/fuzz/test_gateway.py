"""The gateway's OpenAPI document against the gateway on real stores."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from backend_api.kit.http.ports import WebOptions
from backend_api.main.app import describe_app
from support.background import in_background
from support.fuzzing import fuzz
from support.gateway import Gateway, run_gateway
from support.servers import Server

pytestmark = pytest.mark.thorough

_T = TypeVar("_T")


async def _things(gateway: Gateway, headers: dict[str, str]) -> dict[str, str]:
    """A session with a message, a file and a link, and a schedule."""
    session_id = await gateway.session(headers)
    session = f"/api/sessions/{session_id}"
    said = await gateway.client.post(f"{session}/messages", json={"text": "hello"}, headers=headers)
    files = {"files": ("a.txt", b"text")}
    await gateway.client.post(f"{session}/files", files=files, headers=headers)
    link = await gateway.client.post(f"{session}/files/link", json={"path": "a.txt"}, headers=headers)
    daily = {"text": "hello", "cron": "0 9 * * *", "timezone": "UTC"}
    schedule = await gateway.client.post("/api/schedules", json=daily, headers=headers)
    token = str(link.json()["url"]).rpartition("/")[2]
    return {
        "session_id": session_id,
        "job_id": said.json()["run_id"],
        "seq": "1",
        "token": token,
        "schedule_id": schedule.json()["id"],
    }


@pytest.mark.timeout(300)
def test_no_call_breaks_the_gateway_or_its_word(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    options = WebOptions(run_wait_s=0.05)
    opening = run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options)
    with in_background(opening) as (gateway, loop):

        def opened(label: str) -> tuple[dict[str, str], dict[str, str]]:
            headers = anna if "logout" not in label else _do(gateway.user(label.rpartition("/")[2]))
            # What is only read is the same for all who read; what a call may change or end is its own.
            things = read if label.startswith("GET ") or "{" not in label else _do(_things(gateway, anna))
            return things, headers

        def _do(work: Coroutine[Any, Any, _T]) -> _T:
            return asyncio.run_coroutine_threadsafe(work, loop).result(30)

        anna = _do(gateway.user("anna"))
        read = _do(_things(gateway, anna))
        # No worker runs here, so nobody ends a run, and no source of papers can be reached.
        may_say = frozenset({"run_takes_too_long", "sources_failed"})
        wrong = fuzz(describe_app(options).openapi(), gateway.url, opened, may_say=may_say)
        assert not wrong, "\n\n".join(wrong)
        assert _do(gateway.client.get("/healthz")).json() == {"status": "ok"}
