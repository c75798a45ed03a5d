"""An HTML file of the workspace runs in the panel, and has an address of its own."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from support.api_client import ApiClient
from support.page import WIDE, chromium
from support.stack import Stack

PATIENT_MS = 60_000
PAGE = "<p id=said>still</p><script>said.textContent = 'runs'</script>"


@pytest.mark.timeout(300)
async def test_a_page_runs_beside_the_conversation_and_its_link_opens_it_again(stack: Stack) -> None:
    async with chromium() as browser, ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, f'run mkdir site && echo "{PAGE}" > site/a.html')
        page = await (await browser.new_context(viewport=WIDE, locale="en")).new_page()
        await page.goto(f"{stack.base_url}/s/{session}?panel=files&path=site%2Fa.html")
        await page.get_by_role("button", name="Run it").click(timeout=PATIENT_MS)
        said = page.frame_locator("iframe[title='a.html']").locator("#said")
        await expect(said).to_have_text("runs", timeout=PATIENT_MS)
        await expect(page).to_have_url(f"{stack.base_url}/s/{session}?panel=files&path=site/a.html")
        await page.reload()
        await expect(page.get_by_text("A still preview")).to_be_visible(timeout=PATIENT_MS)
        await page.get_by_role("button", name="Back to files").click()
        await expect(page).to_have_url(f"{stack.base_url}/s/{session}?panel=files")
