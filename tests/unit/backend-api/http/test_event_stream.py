"""A stream of events, without a server around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

import pytest
from starlette.types import Message

from backend_api.conversations.http import event_stream
from backend_api.conversations.http.event_stream import EventStream
from backend_api.identity.application.connection_auth import ConnectionAuth
from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit.ids import UserId


async def endless() -> AsyncGenerator[str]:
    while True:
        await asyncio.sleep(0)
        yield "more"


async def test_a_reader_that_takes_nothing_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "SEND_DEADLINE_S", 0.05)
    auth = ConnectionAuth(AccessClaims(user_id=UserId("u"), family="f", token_version=0), lambda: 0.0)

    @contextmanager
    def slot() -> Generator[ConnectionAuth]:
        yield auth

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def receive() -> Message:
        await asyncio.Event().wait()
        return {}

    stream = EventStream(endless(), str.encode, slot=slot(), heartbeat_s=30)
    async with asyncio.timeout(10):
        await stream({"type": "http"}, receive, send)
