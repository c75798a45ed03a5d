"""The row below the message: all of it in reach at phone width, and what is not as usual to be seen there."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, expect

from support.api_client import ApiClient
from support.page import PHONE, chromium, composer, say
from support.stack import Stack

SHOWN_BOXES = """(row) => [...row.querySelectorAll('button')]
  .flatMap((button) => [button, ...button.querySelectorAll('svg, span')].map((part) => [button, part]))
  .map(([button, part]) => [button.ariaLabel, part.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1)
  .map(([name, box]) => ({ name, left: box.left, right: box.right }))"""


async def overlaps(row: Locator) -> list[tuple[str, str]]:
    """Pairs of buttons of which a part of one stands over a part of the other."""
    boxes = await row.evaluate(SHOWN_BOXES)
    return sorted(
        {
            (one["name"], other["name"])
            for one in boxes
            for other in boxes
            if one["name"] < other["name"] and one["left"] < other["right"] and other["left"] < one["right"]
        }
    )


@pytest.mark.timeout(120)
async def test_on_a_phone_no_control_stands_over_another_and_a_choice_shows_on_the_closed_menu(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        page = await browser.new_page(viewport=PHONE, locale="en")
        await page.goto(stack.base_url)
        await say(page, "stream 3")
        await page.wait_for_url("**/s/*")
        session = page.url.rpartition("/")[2]
        await api.until(session, "run.finished", timeout_s=60)
        await expect(page.get_by_role("button", name="Context")).to_be_visible()
        row = page.get_by_role("form", name="Write a message")
        assert await overlaps(row) == []
        model = row.get_by_role("button", name="Model: Demo model").locator("> span")
        assert await model.evaluate("label => label.scrollWidth <= label.clientWidth"), "the model's name is cut off"

        menu = page.get_by_role("button", name="How the agent works here")
        colour = "button => getComputedStyle(button.querySelector('svg')).color"
        usual = await menu.evaluate(colour)
        await menu.click()
        async with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            await page.get_by_role("group", name="Ask before changing").get_by_text("Yes", exact=True).click()
        await page.keyboard.press("Escape")
        await composer(page).focus()
        assert await menu.evaluate(colour) != usual, "that it asks first is not seen where the menu is closed"
        assert await overlaps(row) == []
