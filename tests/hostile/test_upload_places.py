"""Many accounts at one address that hold places for uploads: others keep theirs, and what drips is ended; and an upload
that is slow but comes on is not. How long either is borne is seconds here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

import httpx
import pytest

from backend_api.computers.application.upload_files import UPLOADS_IN_ALL, UPLOADS_PER_ADDRESS, UPLOADS_PER_USER
from backend_api.sandboxes.http import forms
from service_kit.listening import http
from support.bare import all_of, connect
from support.gateway import Gateway, run_gateway
from support.servers import Server

FOREIGN = "127.0.0.2"
LENGTH = 5_000_000
SLOW_S = 4.0
WINDOW_S = 3.0
HALF = b'--b\r\nContent-Disposition: form-data; name="files"; filename="half"\r\n\r\n'


@pytest.fixture
async def gateway(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Gateway]:
    monkeypatch.setattr(forms, "SLOW_S", SLOW_S)
    monkeypatch.setattr(http, "BODY_WINDOW_S", WINDOW_S)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as running:
        yield running


async def half_done(gateway: Gateway, session_id: str, headers: dict[str, str]) -> bytes:
    """An upload that drips, hardly faster than the server bears it, so that the form's own bound is what ends it; what
    it was answered."""
    reader, writer = await connect(int(gateway.url.rpartition(":")[2]), FOREIGN)
    head = (
        f"POST /api/sessions/{session_id}/files HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: {headers['Authorization']}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {LENGTH}\r\n\r\n"
    ).encode()
    answered = asyncio.create_task(all_of(reader))
    writer.write(head + HALF)
    while not answered.done():
        await asyncio.wait([answered], timeout=0.5)
        writer.write(b"x" * 2000)
    writer.transport.abort()
    return await answered


async def upload(gateway: Gateway, session_id: str, headers: dict[str, str], source: str) -> int:
    transport = httpx.AsyncHTTPTransport(local_address=source)
    async with httpx.AsyncClient(base_url=gateway.url, transport=transport, timeout=20) as client:
        url = f"/api/sessions/{session_id}/files"
        return (await client.post(url, files={"files": ("a.txt", b"a")}, headers=headers)).status_code


@pytest.mark.timeout(180)
async def test_many_accounts_at_one_address_leave_places_to_others_and_lose_theirs(gateway: Gateway) -> None:
    accounts = [await gateway.user(f"user{number}") for number in range(UPLOADS_IN_ALL // UPLOADS_PER_USER + 1)]
    sessions = [await gateway.session(headers) for headers in accounts]
    own, others = accounts[-1], list(zip(sessions, accounts, strict=True))[:-1]
    dripping = [
        asyncio.create_task(half_done(gateway, session_id, headers))
        for session_id, headers in others
        for _ in range(UPLOADS_PER_USER)
    ]
    async with asyncio.timeout(60):
        while sum(task.done() for task in dripping) < UPLOADS_IN_ALL - UPLOADS_PER_ADDRESS:
            await asyncio.sleep(0.05)
    assert await upload(gateway, sessions[-1], own, FOREIGN) == 429
    assert await upload(gateway, sessions[-1], own, "127.0.0.1") == 201
    async with asyncio.timeout(90):
        answers = await asyncio.gather(*dripping)
    codes = sorted(answer.split(b" ", 2)[1] for answer in answers)
    assert codes == [b"408"] * UPLOADS_PER_ADDRESS + [b"429"] * (UPLOADS_IN_ALL - UPLOADS_PER_ADDRESS)
    assert await upload(gateway, sessions[-1], own, FOREIGN) == 201


async def test_a_slow_upload_that_comes_on_arrives_whole(gateway: Gateway) -> None:
    """Though it takes longer than a window in which a body has to come on, and far longer than one of its size
    should."""
    headers = await gateway.user("slow")
    session_id = await gateway.session(headers)
    body = HALF + b"x" * 40_000 + b"\r\n--b--\r\n"
    reader, writer = await connect(int(gateway.url.rpartition(":")[2]), FOREIGN)
    writer.write(
        (
            f"POST /api/sessions/{session_id}/files HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Authorization: {headers['Authorization']}\r\n"
            f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
    )
    began = time.monotonic()
    for start in range(0, len(body), 1000):
        writer.write(body[start : start + 1000])
        await asyncio.sleep(1.3 * WINDOW_S / 40)
    assert time.monotonic() - began > WINDOW_S
    async with asyncio.timeout(30):
        raw = await all_of(reader)
    writer.close()
    assert raw.startswith(b"HTTP/1.1 201 "), raw
    shown = await gateway.client.get(
        f"/api/sessions/{session_id}/files/download", params={"path": "half"}, headers=headers
    )
    assert shown.content == b"x" * 40_000
