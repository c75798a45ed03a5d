"""Pages of an app in a sandbox, in a real browser that is logged in everywhere: they reach their own app alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page

from support.endpoint import RunningEndpoint
from support.gateway import Gateway
from support.page import chromium
from support.previews import endpoint, preview_gateway, program
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name", "endpoint"]

DOMAIN = "apps.localhost"
"""Browsers take all hosts below it for one site, so that cookies go along from one to another."""
EVIL = """async ([api, other]) => {
  const told = {};
  const attempt = async (name, what) => {
    try { const answer = await what(); told[name] = answer } catch (error) { told[name] = 'refused' }
  };
  const opened = (url) => new Promise((done) => {
    const socket = new WebSocket(url);
    socket.onopen = () => done('opened'); socket.onerror = () => done('refused');
  });
  const framed = (url) => new Promise((done) => {
    const frame = document.createElement('iframe'); frame.onload = () => done('loaded'); frame.src = url;
    document.body.append(frame);
  });
  await attempt('own', async () => (await fetch('/echo')).status);
  await attempt('api', async () => (await fetch(api + '/api/sessions', {credentials: 'include'})).status);
  await attempt('post', async () => (await fetch(api + '/api/sessions',
    {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}'})).type);
  await attempt('refresh', async () => (await fetch(api + '/api/auth/refresh',
    {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}'})).type);
  await attempt('other', async () => (await fetch(other + '/', {credentials: 'include'})).status);
  await attempt('other post', async () => (await fetch(other + '/',
    {method: 'POST', mode: 'no-cors', credentials: 'include', body: 'x'})).type);
  await attempt('other picture', () => new Promise((done) => {
    const image = new Image(); image.onerror = () => done('refused'); image.src = other + '/a.png';
  }));
  await attempt('other socket', () => opened(other.replace('http', 'ws') + '/ws'));
  await attempt('api socket', () => opened(api.replace('http', 'ws') + '/api/sessions/x/ws'));
  await attempt('other frame', () => framed(other + '/'));
  document.cookie = 'preview-access=planted; path=/';
  document.cookie = 'preview-access=planted; domain=apps.localhost; path=/';
  told.cookies = document.cookie;
  return told;
}"""


class App:
    """A page that keeps count of its requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head.split(b"\r\n")[0].decode())
        page = b"<!doctype html><title>app</title><body>app</body>"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page) + page)
        await writer.drain()
        writer.close()


@pytest.fixture
async def gateway(
    endpoint: RunningEndpoint, mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> AsyncGenerator[Gateway]:
    """Where a call without a token is the local user."""
    async with preview_gateway(
        mongo_server, redis_server, mongo_database_name, endpoint, is_local=True, domain=DOMAIN
    ) as gateway:
        yield gateway


async def address(gateway: Gateway, session_id: str, port: int) -> str:
    path = f"/api/sessions/{session_id}/ports"
    opened = await gateway.client.post(path, json={"port": port})
    issued = await gateway.client.post(f"{path}/{opened.json()['id']}/address")
    return str(issued.json()["url"])


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


async def visited(page: Page, url: str) -> str:
    answer = await page.goto(url)
    assert answer is not None
    assert answer.status == 200
    assert "preview_token" not in page.url
    return origin_of(url)


@pytest.mark.timeout(120)
async def test_an_apps_page_reaches_its_own_app_and_nothing_beside_it(gateway: Gateway) -> None:
    evil, victim = App(), App()
    async with program(evil) as port, program(victim) as other_port, chromium() as browser:
        session_id = str((await gateway.client.post("/api/sessions", json={})).json()["id"])
        page = await (await browser.new_context()).new_page()
        other = await visited(page, await address(gateway, session_id, other_port))
        await visited(page, await address(gateway, session_id, port))
        asked = len(victim.asked)
        api = f"http://localhost:{urlsplit(gateway.url).port}"
        told: dict[str, Any] = await page.evaluate(EVIL, [api, other])

        assert told.pop("own") == 200
        assert told.pop("cookies") in ("", "preview-access=planted")
        opaque = {name for name, found in told.items() if found == "opaque"}
        assert opaque <= {"post", "refresh", "other post"}, told
        assert {name for name, found in told.items() if found not in ("refused", "opaque")} <= {"other frame"}, told
        assert victim.asked[asked:] == []
        assert len((await gateway.client.get("/api/sessions")).json()["items"]) == 1
        assert len(evil.asked) >= 2
        # What it planted locks nobody out, of its own app or another one.
        for url in (page.url, other):
            again = await page.goto(url)
            assert again is not None
            assert again.status == 200
