"""What a script that got into the page could still reach, and what the documentation page loads."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from backend_api.kit.http.page import CSP
from support.listener import listener, was_reached
from support.page import chromium
from support.stack import ROOT, Stack

_TRY_SOCKET = """
address => new Promise(resolve => {
  document.addEventListener('securitypolicyviolation', event => resolve('refused: ' + event.effectiveDirective))
  try {
    const tried = new WebSocket(address)
    tried.onopen = () => resolve('open')
    tried.onerror = () => setTimeout(() => resolve('error'), 1000)
  } catch (error) { resolve('thrown') }
})
"""
_TRY_FETCH = """
address => new Promise(resolve => {
  document.addEventListener('securitypolicyviolation', event => resolve('refused: ' + event.effectiveDirective))
  fetch(address, {mode: 'no-cors'}).then(() => resolve('sent'), () => setTimeout(() => resolve('error'), 1000))
})
"""

_INJECT = """
() => {
  const tag = document.createElement('script')
  tag.textContent = 'window.ran = 1'
  document.body.append(tag)
}
"""


async def test_a_script_in_the_page_opens_no_socket_to_elsewhere(stack: Stack) -> None:
    with listener() as (address, server):
        async with chromium() as browser:
            page = await browser.new_page()
            await page.goto(stack.base_url)
            assert await page.evaluate(_TRY_SOCKET, f"ws://{address}/") == "refused: connect-src"
            assert await page.evaluate(_TRY_FETCH, f"http://{address}/") == "refused: connect-src"
        assert not was_reached(server)


async def test_the_page_may_open_sockets_to_its_own_server(stack: Stack) -> None:
    address = stack.base_url.replace("http://", "ws://") + "/api/sessions/none/ws?after=0"
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(stack.base_url)
        assert not str(await page.evaluate(_TRY_SOCKET, address)).startswith("refused")


@pytest.mark.thorough
async def test_the_documentation_loads_nothing_from_elsewhere(stack: Stack) -> None:
    own = urlsplit(stack.base_url).netloc
    asked: list[str] = []
    said: list[str] = []
    async with chromium() as browser:
        page = await browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        await page.goto(f"{stack.base_url}/docs")
        # What a person came for is there: the calls, drawn by the script.
        await page.get_by_text("/api/auth/login").first.wait_for()
        assert await page.evaluate(_TRY_SOCKET, "ws://elsewhere.example/") == "refused: connect-src"
    assert {urlsplit(url).netloc for url in asked if urlsplit(url).scheme in ("http", "https")} == {own}
    assert [text for text in said if "Content Security Policy" in text and "elsewhere.example" not in text] == []


async def test_the_documentation_runs_no_script_but_its_own(stack: Stack) -> None:
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(f"{stack.base_url}/docs")
        await page.get_by_text("/api/auth/login").first.wait_for()
        await page.evaluate(_INJECT)
        assert await page.evaluate("() => window.ran") is None


def test_both_servers_of_the_page_have_the_same_policy() -> None:
    nginx = (ROOT / "frontend" / "nginx" / "headers.conf").read_text()
    found = re.search(r'Content-Security-Policy "([^"]+)"', nginx)
    assert found is not None
    assert found[1] == CSP
