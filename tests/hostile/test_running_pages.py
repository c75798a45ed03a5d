"""Pages of a workspace that run: with what is beside them, and with nothing of the page that shows them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, Route, expect

from backend_api.kit.http.page import CSP
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.workspace import ToolApiWorkspace
from support.endpoint import running_endpoint
from support.endpoint_tokens import FixedTokens
from support.gateway import Gateway, run_gateway
from support.page import chromium
from support.photographs import png
from support.servers import Server

INDEX = """<!doctype html><link rel=stylesheet href=style.css><p id=said>still</p><img src=img/a.png>
<script src=app.js></script>"""
APP = """
const tried = [];
const attempt = async (name, act) => { try { await act(); tried.push(name) } catch {} };
(async () => {
  await attempt('cookie', () => document.cookie);
  await attempt('storage', () => localStorage.length);
  await attempt('parent', () => parent.document.title);
  await attempt('moves the page', () => { top.location = 'about:blank' });
  await attempt('asks the server', () => fetch('/api/auth/me', {credentials: 'include'}));
  await attempt('asks beside', () => fetch('app.js'));
  await attempt('asks elsewhere', () => fetch('https://elsewhere.example/?x'));
  await document.images[0].decode();
  document.getElementById('said').textContent = `ran in ${origin}: [${tried}] ${document.images[0].naturalWidth}`;
})();
"""

LEAK = """<!doctype html><link rel=preconnect href="http://127.0.0.1:{tcp}"><p id=said>still</p>
<iframe id=empty></iframe><iframe id=written srcdoc="<p>x"></iframe><script>
const gathered = [];
const leak = async (name, Connection) => {{
  const one = new Connection({{iceServers: [
    {{urls: 'stun:127.0.0.1:{udp}'}}, {{urls: 'turn:127.0.0.1:{udp}', username: 'what it read', credential: 'x'}}]}});
  one.createDataChannel('x');
  const done = new Promise((end) => {{ one.onicecandidate = ({{candidate}}) => candidate || end() }});
  await one.setLocalDescription(await one.createOffer());
  await done;
  gathered.push(name);
}};
(async () => {{
  await leak('page', RTCPeerConnection);
  for (const id of ['empty', 'written']) {{
    const found = document.getElementById(id).contentWindow;
    try {{ await leak(id, found.RTCPeerConnection) }} catch (error) {{ gathered.push(`${{id}} refused`) }}
  }}
  document.getElementById('said').textContent = `gathered ${{gathered}}`;
}})();
</script>"""


@asynccontextmanager
async def listening() -> AsyncGenerator[tuple[int, int, list[str]]]:
    """Ports of UDP and TCP, and what came in there."""
    seen = list[str]()

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            seen.append(f"{len(data)} bytes by UDP")

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append("a connection")
        writer.close()

    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", 0))
    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield transport.get_extra_info("sockname")[1], server.sockets[0].getsockname()[1], seen
    transport.close()


@asynccontextmanager
async def shown(gateway: Gateway, url: str) -> AsyncGenerator[Page]:
    """A page with our policy, that has a cookie and a token, and the other one in a frame."""

    async def answer(route: Route) -> None:
        frame = f"<title>ours</title><iframe sandbox='allow-scripts allow-modals' src='{url}'></iframe>"
        await route.fulfill(body=frame, content_type="text/html", headers={"Content-Security-Policy": CSP})

    async with chromium() as browser:
        page = await browser.new_page()
        await page.route(f"{gateway.url}/", answer)
        await page.goto(f"{gateway.url}/")
        yield page


async def test_a_page_runs_with_what_is_beside_it_and_has_nothing_of_ours(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    with running_endpoint(tmp_path) as endpoint:
        site = endpoint.workspace / "site"
        (site / "img").mkdir(parents=True)
        (site / "index.html").write_text(INDEX)
        (site / "app.js").write_text(APP)
        (site / "style.css").write_text("p { color: rgb(1, 2, 3) }")
        (site / "img" / "a.png").write_bytes(png(2, 2))
        async with (
            Endpoints(FixedTokens(endpoint)) as endpoints,
            run_gateway(
                mongo_server.uri, mongo_database_name, redis_server.uri, files=ToolApiWorkspace(endpoints)
            ) as gateway,
        ):
            anna = await gateway.user("anna")
            session_id = await gateway.session(anna)
            body = {"path": "site", "folder": True, "running": True}
            made = await gateway.client.post(f"/api/sessions/{session_id}/files/link", json=body, headers=anna)
            token = made.json()["url"].rpartition("/")[2]
            async with shown(gateway, f"/api/files/{token}/index.html") as page:
                said = page.frame_locator("iframe").locator("#said")
                await expect(said).to_have_text("ran in null: [] 2")
                await expect(said).to_have_css("color", "rgb(1, 2, 3)")
                assert await page.title() == "ours"
            # The page knows its own address, and can tell it to others: no policy of browsers holds all it sends.
            (site / ".hidden").mkdir()
            (site / ".hidden" / "said.md").write_text("what was said")
            statuses = [
                (await gateway.client.get(f"/api/files/{token}{path}")).status_code
                for path in ("", "?download=true", "/app.js", "/.hidden/said.md", "/img/%2e%2e/.hidden/said.md")
            ]
            assert statuses == [404, 404, 200, 404, 404]


async def test_a_page_that_runs_sends_nothing_by_webrtc_nor_by_a_connection_made_ahead(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    with running_endpoint(tmp_path) as endpoint:
        site = endpoint.workspace / "site"
        site.mkdir(parents=True)
        async with (
            Endpoints(FixedTokens(endpoint)) as endpoints,
            listening() as (udp, tcp, seen),
            run_gateway(
                mongo_server.uri, mongo_database_name, redis_server.uri, files=ToolApiWorkspace(endpoints)
            ) as gateway,
        ):
            (site / "index.html").write_text(LEAK.format(udp=udp, tcp=tcp))
            anna = await gateway.user("anna")
            session_id = await gateway.session(anna)
            body = {"path": "site", "folder": True, "running": True}
            made = await gateway.client.post(f"/api/sessions/{session_id}/files/link", json=body, headers=anna)
            token = made.json()["url"].rpartition("/")[2]
            async with shown(gateway, f"/api/files/{token}/index.html") as page:
                said = page.frame_locator("iframe").locator("#said")
                await expect(said).to_have_text(re.compile("gathered page,"), timeout=90_000)
            assert seen == []
