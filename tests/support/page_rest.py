"""When a page is at rest: nothing is on its way to it, and nothing of it changes any more."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from playwright.async_api import Page, Request, Response

REST_S = 30.0
STILL = """
async () => {
  await document.fonts.ready
  let last = 0
  const seen = new MutationObserver((changes) => {
    if (changes.some(({ target }) => !(target.parentElement ?? target).closest('time, [role=timer]'))) last = turns
  })
  let turns = 0
  seen.observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
  // A turn is a frame, in which what has come into view is asked for, and what waits for an idle moment.
  for (; turns - last < 4 && turns < 200; turns++) {
    await new Promise(requestAnimationFrame)
    await new Promise((idle) => requestIdleCallback(idle, { timeout: 200 }))
  }
  seen.disconnect()
  return turns - last >= 4
}
"""


class Traffic:
    """What a page has asked for that has not come yet. A stream of events has come once it is open."""

    def __init__(self, page: Page) -> None:
        self._under_way: set[Request] = set()
        self._came = asyncio.Event()
        page.on("request", self._begin)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)
        page.on("response", self._open)

    @property
    def under_way(self) -> list[str]:
        return sorted(f"{request.method} {request.url}" for request in self._under_way)

    def _begin(self, request: Request) -> None:
        self._under_way.add(request)

    def _end(self, request: Request) -> None:
        self._under_way.discard(request)
        self._came.set()

    def _open(self, response: Response) -> None:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            self._end(response.request)

    async def ended(self) -> None:
        while self._under_way:
            self._came.clear()
            await self._came.wait()


_of_page: WeakKeyDictionary[Page, Traffic] = WeakKeyDictionary()


def watch_traffic(page: Page) -> Traffic:
    """From here on; once for a page."""
    if page not in _of_page:
        _of_page[page] = Traffic(page)
    return _of_page[page]


async def until_at_rest(page: Page, *, within_s: float = REST_S) -> None:
    """Of a page whose traffic is watched since before it was opened."""
    traffic = watch_traffic(page)
    try:
        async with asyncio.timeout(within_s):
            is_still = False
            while not is_still or traffic.under_way:
                await traffic.ended()
                is_still = await page.evaluate(STILL)
    except TimeoutError:
        raise AssertionError(f"{page.url} comes to no rest; under way: {traffic.under_way}") from None
