"""A reader that follows one session, is cut off again and again, and goes on from its last number at any gateway."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from support.tls import NO_TLS

_QUIET_S = 10.0


@dataclass(slots=True, kw_only=True)
class Reader:
    """`stored` holds the raw data of every stored event by its number; `wrong` what broke the contract."""

    session_id: str
    urls: Sequence[str]
    token: str
    chance: random.Random
    stored: dict[int, str] = field(default_factory=dict[int, str])
    finished: set[str] = field(default_factory=set[str])
    wrong: list[str] = field(default_factory=list[str])
    connections: int = 0
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _live: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def last(self) -> int:
        return len(self.stored)

    async def run(self) -> None:
        """Until cancelled: connect anywhere, read for a while, leave without a word."""
        async with httpx.AsyncClient(trust_env=False, timeout=httpx.Timeout(5.0, read=_QUIET_S), verify=NO_TLS) as http:
            while True:
                try:
                    async with asyncio.timeout(self.chance.uniform(0.3, 15.0)):
                        await self._follow(http)
                except (httpx.HTTPError, TimeoutError):
                    pass
                await asyncio.sleep(self.chance.uniform(0.05, 0.5))

    async def until_finished(self, run_id: str) -> None:
        """Wait until this reader has seen the end of a run."""
        while run_id not in self.finished:
            await self._news.wait()

    async def until_last(self, seq: int) -> None:
        """Wait until this reader has everything up to a number."""
        while self.last < seq:
            await self._news.wait()

    async def _follow(self, http: httpx.AsyncClient) -> None:
        url = f"{self.chance.choice(self.urls)}/api/sessions/{self.session_id}/events"
        headers = {"Authorization": f"Bearer {self.token}"}
        async with http.stream("GET", url, params={"after": self.last}, headers=headers) as response:
            if response.status_code >= 500:
                return
            if response.status_code != 200:
                self.wrong.append(f"status {response.status_code}")
                return
            self.connections += 1
            self._live.clear()
            async for line in response.aiter_lines():
                if line.startswith("data:"):
                    self._take(line[5:].strip())

    def _take(self, data: str) -> None:
        event: dict[str, Any] = json.loads(data)
        if event["seq"] is None:
            self._take_live(event)
            return
        if event["seq"] != self.last + 1:
            self.wrong.append(f"number {event['seq']} came after {self.last}")
            return
        self.stored[event["seq"]] = data
        if event["type"] == "message.completed":
            shown = self._live.pop(event["message_id"], "")
            if not event["text"].startswith(shown):
                self.wrong.append(f"shown {shown[-80:]!r}, which is not what was stored: {event['text'][:80]!r}")
        if event["type"] == "run.finished":
            self.finished.add(event["run_id"])
        self._news.set()
        self._news = asyncio.Event()

    def _take_live(self, event: dict[str, Any]) -> None:
        if event["type"] != "message.delta":
            return
        so_far = self._live.get(event["message_id"], "")
        if event["offset"] != len(so_far):
            self.wrong.append(f"live text at {event['offset']} came when {len(so_far)} characters were there")
            return
        self._live[event["message_id"]] = so_far + event["text"]
