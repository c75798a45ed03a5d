"""A remote host is added, tested, confirmed and worked on, as a person does it in the page."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient
from support.page import PHONE, WIDE, chromium
from support.sshd import NoSshdError, run_sshd
from support.stack import Stack

PATIENT_MS = 60_000


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"targets-{name}.png")


async def sees_the_app(stack: Stack, session: str) -> None:
    """An app on the host, in a browser that went to the address of its port."""

    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nshop")
        await writer.drain()
        writer.close()

    async with ApiClient(stack.base_url) as api, await asyncio.start_server(answers, "127.0.0.1", 0) as app:
        port = app.sockets[0].getsockname()[1]
        opened = await api.json("POST", f"/sessions/{session}/ports", json={"port": port}, expect=201)
        issued = await api.json("POST", f"/sessions/{session}/ports/{opened['id']}/address")
        url = urlsplit(str(issued["url"]))
        # Where names below localhost lead elsewhere or nowhere, as resolvers differ.
        headers = {"Host": url.netloc}
        async with httpx.AsyncClient(base_url=stack.base_url, headers=headers, timeout=60, trust_env=False) as browser:
            assert (await browser.get(f"/?{url.query}")).status_code == 303
            assert (await browser.get("/")).text == "shop"


@pytest.mark.timeout(240)
async def test_a_host_is_added_confirmed_and_chosen_for_a_conversation(stack: Stack, tmp_path: Path) -> None:
    try:
        async with run_sshd(tmp_path) as sshd, chromium() as browser:
            page = await browser.new_page(viewport=WIDE)
            await page.goto(f"{stack.base_url}/?settings=targets")
            await page.get_by_role("button", name="Add a remote host").click(timeout=PATIENT_MS)
            await page.get_by_label("Name").fill("Build")
            await page.get_by_label("Host", exact=True).fill("127.0.0.1")
            await page.get_by_label("Port").fill(str(sshd.port))
            await page.get_by_label("User on that host").fill(sshd.username)
            await page.get_by_label("Working folder").fill("~/builds")
            await picture(page, "form")
            await page.get_by_role("button", name="Save").click()
            shown = page.get_by_text("ssh-ed25519 AAAA").first
            await expect(shown).to_be_visible(timeout=PATIENT_MS)
            sshd.authorize((await shown.inner_text()).strip())
            await page.get_by_role("button", name="Test connection").click()
            confirm = page.get_by_role("button", name="This is the right machine")
            await expect(confirm).to_be_visible(timeout=PATIENT_MS)
            await picture(page, "fingerprint")
            await confirm.click()
            await expect(page.get_by_text("Build works.")).to_be_visible(timeout=PATIENT_MS)
            await picture(page, "ready")
            small = await browser.new_page(viewport=PHONE, locale="zh-CN", color_scheme="dark")
            await small.goto(f"{stack.base_url}/?settings=targets")
            await expect(small.get_by_role("button", name="Build").first).to_be_visible(timeout=PATIENT_MS)
            await small.get_by_role("button", name="Build").first.click()
            assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            await picture(small, "phone")
            await page.goto(stack.base_url)
            await page.get_by_role("button", name="Computer: Usual computer").click(timeout=PATIENT_MS)
            await page.get_by_role("menuitemradio", name="Build").click()
            await picture(page, "chosen")
            box = page.get_by_role("textbox").last
            await box.fill("Hello")
            await box.press("Enter")
            await expect(page.get_by_title("Works on Build")).to_be_visible(timeout=PATIENT_MS)
            await picture(page, "conversation")
            await sees_the_app(stack, page.url.rpartition("/")[2].partition("?")[0])
    except NoSshdError as error:
        pytest.skip(f"no real sshd: {error}")
