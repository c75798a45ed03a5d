"""A small client of the gateway's wire contract for tests and benchmarks: REST by httpx, events by SSE."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx

from support.tls import NO_TLS

Json = dict[str, Any]


class ApiClient:
    """One user's view of the gateway at `base_url` (such as `http://127.0.0.1:8000`)."""

    def __init__(self, base_url: str, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.base_url = base_url
        self.token = token
        self._opened: list[str] = []
        self.http = httpx.AsyncClient(
            base_url=f"{base_url}/api", headers=headers, timeout=60, trust_env=False, verify=NO_TLS
        )

    async def __aenter__(self) -> ApiClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Sessions opened here go with their computers, so that tests that share a stack do not fill it."""
        try:
            for session_id in self._opened:
                await self.http.delete(f"/sessions/{session_id}")
        finally:
            await self.http.aclose()

    def keep_sessions(self) -> None:
        """Those opened so far stay, where no sandbox manager is there that each deletion would wait for."""
        self._opened.clear()

    async def json(self, method: str, path: str, *, expect: int = 200, **kwargs: Any) -> Any:
        """Call and answer the JSON body; any other status is an assertion failure that shows the body."""
        response = await self.http.request(method, path, **kwargs)
        assert response.status_code == expect, f"{method} {path}: {response.status_code} {response.text[:500]}"
        return response.json() if response.content else None

    async def new_session(self, **body: Any) -> str:
        session: Json = await self.json("POST", "/sessions", json=body, expect=201)
        self._opened.append(str(session["id"]))
        return self._opened[-1]

    async def send(self, session_id: str, text: str, **extra: Any) -> Json:
        return await self.json("POST", f"/sessions/{session_id}/messages", json={"text": text, **extra}, expect=202)

    async def events(self, session_id: str, *, after: int = 0) -> AsyncIterator[Json]:
        """The live stream from `after` on; ends when the server closes it."""
        async with self.http.stream(
            "GET",
            f"/sessions/{session_id}/events",
            params={"after": after},
            headers={"Accept": "text/event-stream"},
            timeout=httpx.Timeout(10, read=60),
        ) as response:
            assert response.status_code == 200, f"events: {response.status_code}"
            async for line in _lines(response):
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])

    async def stored_events(self, session_id: str) -> list[Json]:
        """The whole history as stored."""
        items: list[Json] = []
        while True:
            after = items[-1]["seq"] if items else 0
            page: Json = await self.json(
                "GET", f"/sessions/{session_id}/events", params={"format": "json", "after": after, "limit": 500}
            )
            items += page["items"]
            if not page["has_more"]:
                return items

    async def until(self, session_id: str, event_type: str, *, after: int = 0, timeout_s: float = 60) -> list[Json]:
        """Events up to and with the first of `event_type`."""
        seen: list[Json] = []
        try:
            async with asyncio.timeout(timeout_s):
                stream = self.events(session_id, after=after)
                async with contextlib.aclosing(stream):  # type: ignore[type-var]
                    async for event in stream:
                        seen.append(event)
                        if event["type"] == event_type:
                            return seen
        except TimeoutError:
            raise AssertionError(f"no {event_type} within {timeout_s:.0f} s, but {_told(seen)}") from None
        raise AssertionError(f"the stream ended before {event_type}, after {_told(seen)}")

    async def ask(self, session_id: str, text: str, *, timeout_s: float = 120) -> list[Json]:
        """Send a message and answer all events from it to the end of its run."""
        accepted = await self.send(session_id, text)
        return await self.until(session_id, "run.finished", after=accepted["seq"] - 1, timeout_s=timeout_s)


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """As they are ended in this format: `aiter_lines` also ends them at characters that may stand in a text."""
    rest = bytearray()
    async for piece in response.aiter_bytes():
        rest += piece
        *lines, rest = rest.split(b"\n")
        for line in lines:
            yield bytes(line)


def _told(events: list[Json]) -> str:
    """How often each type came, and the last event whole."""
    counts = collections.Counter(event["type"] for event in events)
    return f"{dict(counts)}, at last {events[-1] if events else None}"


async def register(base_url: str, username: str, password: str = "correct horse battery") -> ApiClient:
    """A new account's client."""
    async with ApiClient(base_url) as anonymous:
        answer: Json = await anonymous.json(
            "POST", "/auth/register", json={"username": username, "password": password}, expect=201
        )
    return ApiClient(base_url, answer["access_token"])
