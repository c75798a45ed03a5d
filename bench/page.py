"""The page on a conversation of 10,000 events that this makes, and on a long answer that is streamed to it.

.venv/bin/python bench/page.py [events]

`PAGE_STACK=<address>,<id of a conversation>` measures on a stack that runs already. Figures are medians of five.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from playwright.async_api import Browser, CDPSession, Page

from setting import machine, percentile, scripted_stack
from support.long_talk import LAST_WORDS, fill_talk, long_answer
from support.page import WIDE, chromium, composer
from support.stream_load import fresh_sessions, mongo_uri_of

EVENTS = 10_000
DELTAS = 2_700
EVERY_MS = 4.0
TIMES = int(os.environ.get("PAGE_TIMES", "5"))
_WATCH = """(() => {
  const seen = (window.seen = { frames: [], elements: 0, words: null });
  let last = performance.now();
  let count = 0;
  const look = (now) => {
    seen.frames.push(now - last);
    last = now;
    if (count++ %% 4 === 0 && document.body) {
      seen.elements = Math.max(seen.elements, document.getElementsByTagName('*').length);
      if (!seen.words && document.querySelector('[role=log]')?.textContent.includes('%s')) seen.words = now;
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""
_TAKE = "() => { const frames = window.seen.frames; window.seen.frames = []; return frames }"
_TO_END = "() => { const b = document.querySelector('[data-conversation]'); b.scrollTop = b.scrollHeight }"
_AT_END = """() => { const b = document.querySelector('[data-conversation]');
  return b.scrollHeight - b.scrollTop - b.clientHeight < 2 }"""


async def frames_of(page: Page) -> list[float]:
    """How long each frame took since this was last asked, shortest first."""
    return sorted(await page.evaluate(_TAKE))


async def work_s(cdp: CDPSession) -> float:
    """Seconds of processor of the page's own thread so far."""
    told: dict[str, Any] = await cdp.send("Performance.getMetrics")
    return next(one["value"] for one in told["metrics"] if one["name"] == "TaskDuration")


async def watched(browser: Browser, address: str) -> tuple[Page, CDPSession, list[str]]:
    """A page whose frames are watched, and the addresses of the pages of events that it asked for."""
    page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
    await page.add_init_script(_WATCH % LAST_WORDS)
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "format=json" in one.url else None)
    await page.goto(address)
    return page, cdp, asked


async def opening(browser: Browser, address: str) -> dict[str, float]:
    """Opened at its end, read far up, and back."""
    page, cdp, asked = await watched(browser, address)
    await page.wait_for_function("() => window.seen.words", timeout=120_000)
    figures = {"last answer painted, ms": await page.evaluate("() => window.seen.words")}
    await page.wait_for_timeout(1500)
    figures |= {"opening: worst frame, ms": (await frames_of(page))[-1], "opening: processor, s": await work_s(cdp)}
    figures["opening: pages asked for"] = len(asked)
    await page.locator("[data-conversation]").hover()
    for _ in range(150):
        await page.mouse.wheel(0, -700)
        await page.wait_for_timeout(30)
    up = await frames_of(page)
    figures |= {"scrolling: worst frame, ms": up[-1], "scrolling: p95 frame, ms": percentile(up, 0.95)}
    figures["scrolling: pages asked for"] = len(asked)
    began = await page.evaluate("() => performance.now()")
    await page.evaluate(_TO_END)
    await page.wait_for_function(_AT_END)
    figures["back at the end, ms"] = await page.evaluate("() => performance.now()") - began
    figures["elements at most"] = await page.evaluate("() => window.seen.elements")
    await page.context.close()
    return figures


async def streaming(browser: Browser, address: str, slower: int = 1) -> dict[str, float]:
    """A long answer as it is written."""
    page, cdp, _ = await watched(browser, address)
    await composer(page).fill("Tell me all of it")
    await page.wait_for_timeout(1500)
    if slower > 1:
        await cdp.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    count = await page.locator("[data-kind=end]").count()
    await frames_of(page)
    before = await work_s(cdp)
    await composer(page).press("Enter")
    # By the question of a timer: that of each frame would be seen in what is measured.
    ended = "(n) => document.querySelectorAll('[data-kind=end]').length > n"
    await page.wait_for_function(ended, arg=count, timeout=240_000, polling=500)
    await page.wait_for_timeout(500)
    spent, frames = await work_s(cdp) - before, await frames_of(page)
    await page.context.close()
    name = f"stream at 1/{slower} of the speed" if slower > 1 else "stream"
    figures = {f"{name}: worst frame, ms": frames[-1], f"{name}: p95 frame, ms": percentile(frames, 0.95)}
    return figures if slower > 1 else {f"{name}: processor, s": spent, **figures}


async def measure(base_url: str, long: str) -> None:
    async def one_of(part: str, browser: Browser) -> dict[str, float]:
        if part == "open":
            return await opening(browser, f"{base_url}/s/{long}")
        if part == "into":
            told = await streaming(browser, f"{base_url}/s/{long}")
            return {f"into the long one, {name}": value for name, value in told.items()}
        (fresh,) = await fresh_sessions(base_url, 1)
        return await streaming(browser, f"{base_url}/s/{fresh}", 4 if part == "slow" else 1)

    async with chromium() as browser:
        # One part after the other: what is written into the long conversation stands at its end from then on.
        for part in PARTS:
            found = [await one_of(part, browser) for _ in range(TIMES)]
            for name in found[0]:
                values = [one[name] for one in found]
                print(f"{name}: {median(values):.1f} ({min(values):.1f} to {max(values):.1f})", flush=True)


PARTS = os.environ.get("PAGE_PARTS", "open,stream,slow,into").split(",")
"""Of these, in this order."""


async def filled(base_url: str, data_dir: Path, events: int) -> str:
    (session,) = await fresh_sessions(base_url, 1)
    print(f"a conversation of {await fill_talk(mongo_uri_of(data_dir), 'agent', session, events)} events")
    return session


def main() -> None:
    print(machine())
    if given := os.environ.get("PAGE_STACK"):
        base_url, _, session = given.partition(",")
        asyncio.run(measure(base_url, session))
        return
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "answer.md"
        text.write_text(long_answer(), encoding="utf-8")
        with scripted_stack(deltas=DELTAS, delay_ms=EVERY_MS, text=text) as stack:
            events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
            session = asyncio.run(filled(stack.base_url, stack.data_dir, events))
            asyncio.run(measure(stack.base_url, session))


if __name__ == "__main__":
    main()
