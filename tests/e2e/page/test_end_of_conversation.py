"""Whoever reads at the end of a conversation is still there when something in it grows by itself."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import WIDE, chromium, opened, say, transcript
from support.stack import Stack

PATIENT_MS = 60_000
BELOW = """(log) => {
    const box = log.parentElement.parentElement
    return box.scrollHeight - box.scrollTop - box.clientHeight
}"""
"""How much stands below what is seen, in pixels."""
GROW = """(log) => new Promise((done) => {
    const add = (height) => {
        const more = document.createElement('div')
        more.style.height = `${height}px`
        log.append(more)
    }
    const watch = new ResizeObserver(() => {
        if (log.dataset.grown) return
        log.dataset.grown = 'twice'
        // What grew first was followed, and the scroll that took is not told yet.
        add(300)
        watch.disconnect()
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))
    })
    add(100)
    watch.observe(log)
})"""

LOOK_UP = """async (log) => {
    const frame = () => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))
    log.parentElement.parentElement.scrollBy(0, -300)
    await frame()
    log.lastElementChild.style.height = '400px'
    await frame()
}"""
"""Scrolls 300 px up, and lets the end grow by 100 px more."""


@pytest.mark.timeout(120)
async def test_what_grows_while_a_scroll_is_under_way_takes_nobody_from_the_end(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await browser.new_page(viewport=WIDE, locale="en")
        await opened(page, stack, await api.new_session())
        await say(page, "stream 600")
        await expect(transcript(page).locator("[data-kind=end]")).to_be_attached(timeout=PATIENT_MS)
        assert await transcript(page).evaluate(BELOW) < 2
        await transcript(page).evaluate(GROW)
        assert await transcript(page).evaluate(BELOW) < 2
        await transcript(page).evaluate(LOOK_UP)
        assert await transcript(page).evaluate(BELOW) == 400
