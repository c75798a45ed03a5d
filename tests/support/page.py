"""A real Chromium driving the page."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from support.stack import Stack

WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
STARTED_MS = 60_000
EVERY_STEP = "localStorage.setItem('face', 'developer')"
"""Begins a page in the developer view, which shows each call as a card of its own."""
_QUIET = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync")

# What comes is waited for as long as a busy machine may need. What has to come sooner is measured by its test.
expect.set_options(timeout=20_000)

_kept: dict[asyncio.AbstractEventLoop, Browser] = {}
"""The browser of each loop that keeps one."""


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """Chromium as somebody finds it who has just started it: what the block opens in it is closed with the block."""
    kept = _kept.get(asyncio.get_running_loop())
    if kept is None or not kept.is_connected():
        async with _own_chromium() as own:
            yield own
        return
    before = [*kept.contexts]
    try:
        yield kept
    finally:
        for context in [one for one in kept.contexts if one not in before]:
            await context.close()


@asynccontextmanager
async def kept_chromium() -> AsyncGenerator[None]:
    """`chromium` hands out one and the same on this loop, which costs a start less each time."""
    loop = asyncio.get_running_loop()
    async with _own_chromium() as browser:
        _kept[loop] = browser
        try:
            yield
        finally:
            del _kept[loop]


@asynccontextmanager
async def _own_chromium() -> AsyncGenerator[Browser]:
    """Chromium from PATH, headless. Without one the test is skipped."""
    path = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no chromium on PATH: the page is not tried in a browser")
    async with async_playwright() as playwright:
        # As root Chromium refuses its sandbox; it opens nothing here but our own page.
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=path, args=[*_QUIET, "--disable-gpu", *sandbox])
        try:
            yield browser
        finally:
            await browser.close()


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message")


def transcript(page: Page) -> Locator:
    return page.get_by_role("log")


async def opened(page: Page, stack: Stack, session: str) -> None:
    """That conversation of the stack is shown."""
    await page.goto(f"{stack.base_url}/s/{session}")
    await expect(composer(page)).to_be_visible()


async def say(page: Page, text: str) -> None:
    """Write a message and send it."""
    await composer(page).fill(text)
    await composer(page).press("Enter")


async def show_desktop(page: Page) -> None:
    """The panel, which follows the agent from tool to tool, shows the desktop and stays there."""
    await page.get_by_role("tab", name=re.compile("^(Desktop|桌面)$")).click(timeout=STARTED_MS)
