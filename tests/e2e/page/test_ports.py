"""Ports of the computer that are open to the person: told of in the conversation, listed in their panel, and what
listens there opened in a tab of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, Page, expect

from support.model_server import Answer, ModelServer
from support.page import EVERY_STEP, PHONE, WIDE, chromium, say, transcript
from support.scripted_stack import call, calls, model_settings
from support.servers import free_port
from support.stack import run_stack

PATIENT_MS = 60_000
SHOP = "<!doctype html><title>Tea shop</title><h1>Oolong</h1>"
NAME = "Tea shop"


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"ports-{name}.png")


async def opened_by(context: BrowserContext, button: Locator) -> Page:
    """The tab that pressing the button opens, with the shop in it."""
    async with context.expect_page() as tab:
        await button.press("Enter")
    shop = await tab.value
    await expect(shop.get_by_role("heading", name="Oolong")).to_be_visible(timeout=PATIENT_MS)
    assert await shop.evaluate("window.opener === null")
    return shop


@pytest.mark.timeout(240)
async def test_what_the_agent_opens_is_used_in_a_tab_until_it_is_closed(tmp_path: Path) -> None:
    port = free_port()
    serves = f"cd shop && python3 -m http.server {port} --bind 127.0.0.1"
    listens = f"until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do sleep 0.1; done"
    async with ModelServer(Answer(texts=("It is there.",))) as model, chromium() as browser:
        model.answer(
            calls(call("file_write", path="shop/index.html", content=SHOP)),
            calls(call("shell_exec", shell="shop", command=serves, keep_running=True, timeout_s=1)),
            calls(call("shell_exec", command=listens)),
            calls(call("expose_port", port=port, label=NAME), call("expose_port", port=7000)),
        )
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false", **model_settings(model, "chat")) as stack:
            context = await browser.new_context(viewport=WIDE, locale="en")
            await context.add_init_script(EVERY_STEP)
            page = await context.new_page()
            await page.goto(stack.base_url)
            await say(page, "show me the shop")
            await expect(transcript(page).get_by_text("It is there.")).to_be_visible(timeout=PATIENT_MS)
            await expect(transcript(page).get_by_role("button", name=f"Opened port {port}")).to_be_visible()
            await expect(transcript(page).get_by_role("button", name="Tried to open port 7000")).to_be_visible()
            button = f"Open {NAME} in a new tab"
            shop = await opened_by(context, transcript(page).get_by_role("button", name=button))
            await picture(page, "told")

            await page.get_by_role("tab", name="Ports").click()
            panel = page.get_by_role("region", name="Open ports")
            row = panel.get_by_role("listitem").filter(has_text=NAME)
            await expect(row).to_contain_text(f"Port {port} · opened by the agent · since ")
            await (await opened_by(context, row.get_by_role("button", name=button))).close()
            await row.get_by_role("button", name=f"Copy address of {NAME}").click()
            await expect(row.get_by_text("Copied. It opens until")).to_be_visible()
            address = await row.get_by_label(f"Address of {NAME}", exact=True).input_value()
            guest = await browser.new_page()
            await guest.add_init_script(EVERY_STEP)
            await guest.goto(address)
            await expect(guest.get_by_role("heading", name="Oolong")).to_be_visible()

            # Another one is opened by the person, in another page of theirs as well.
            small = await browser.new_page(viewport=PHONE, locale="zh-CN", color_scheme="dark")
            await small.add_init_script(EVERY_STEP)
            await small.goto(f"{page.url.partition('?')[0]}?panel=ports")
            theirs = small.get_by_role("region", name="已开放的端口").get_by_role("listitem")
            await expect(theirs).to_have_count(1, timeout=PATIENT_MS)
            await panel.get_by_label("Port", exact=True).fill("7000")
            await page.keyboard.press("Enter")
            await expect(panel.get_by_role("alert")).to_contain_text("the computer itself uses it")
            await panel.get_by_label("Port", exact=True).fill("4321")
            await page.keyboard.press("Enter")
            await expect(panel.get_by_role("status").filter(has_text="Port 4321 is open.")).to_be_visible()
            await expect(panel.get_by_role("alert")).to_have_count(0)
            await expect(theirs).to_have_count(2)
            await expect(theirs.filter(has_text="4321")).to_contain_text("由你开放")
            assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
            await page.bring_to_front()
            await picture(page, "list")
            await picture(small, "phone")

            await row.get_by_role("button", name=f"Close {NAME}").press("Enter")
            await page.keyboard.press("Tab")
            await picture(page, "sure")
            await page.keyboard.press("Enter")
            await expect(panel.get_by_text(f"{NAME} is closed.")).to_be_visible()
            await expect(row).to_have_count(0)
            await expect(theirs).to_have_count(1)
            await expect(transcript(page).get_by_text(f"Port {port} is not open any more.")).to_be_visible()
            await shop.reload()
            await expect(shop.get_by_role("heading", name="Oolong")).to_have_count(0)
            await picture(shop, "closed")
