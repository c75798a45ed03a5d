"""The tab somebody works in, which may be closed at any moment that nobody types in it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext, ConsoleMessage, Error, Page

SHOWN_MS = 15_000
OPENED_S = 120.0
_NETWORK = re.compile(r"Failed to load resource|net::ERR_|Failed to fetch|NetworkError|WebSocket connection to")


@dataclass(slots=True, kw_only=True)
class Tab:
    """`held` is the page for as long as it is certain to be there. `wrong` is what its pages complained of."""

    context: BrowserContext
    wrong: list[str] = field(default_factory=list[str])
    opened: int = 0
    _page: Page | None = None
    _is_held: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_switched: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[Page]:
        async with self._is_held:
            assert self._page is not None
            yield self._page

    async def go(self, url: str) -> None:
        """That address is shown in it."""
        async with self._is_held:
            await self._show(await self._fresh() if self._page is None else self._page, url)

    async def reload(self) -> None:
        async with self.held() as page:
            await self._show(page, page.url)

    async def close_and_reopen(self) -> None:
        """In a new tab the same address is opened."""
        async with self.held() as page:
            url = page.url
            await page.close()
            await self._show(await self._fresh(), url)

    async def set_offline(self, *, is_offline: bool) -> None:
        """Of all its pages, also of one that is just being made."""
        async with self._is_switched:
            await self.context.set_offline(is_offline)

    async def _fresh(self) -> Page:
        async with self._is_switched:
            page = await self.context.new_page()
        page.set_default_timeout(SHOWN_MS)
        page.on("pageerror", lambda error: self.wrong.append(f"page error: {error}"))
        page.on("console", lambda message: self._hear(message))
        self._page = page
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _NETWORK.search(message.text):
            self.wrong.append(f"console: {message.text[:500]}")

    async def _show(self, page: Page, url: str) -> None:
        """As a person does who presses reload until the page is there."""
        async with asyncio.timeout(OPENED_S):
            while True:
                try:
                    await page.goto(url, timeout=SHOWN_MS)
                    await page.locator("form").first.or_(page.locator("h1").first).first.wait_for(timeout=SHOWN_MS)
                except Error:
                    await asyncio.sleep(0.3)
                else:
                    self.opened += 1
                    return
