"""Diagrams, callouts, footnotes, folded parts, changes and pictures in an answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from support.model_server import Answer, ModelServer
from support.page import PHONE, WIDE, chromium, say, transcript
from support.scripted_stack import call, calls, model_settings
from support.stack import run_stack

PATIENT_MS = 60_000
ANSWER = """Here is how it fits together.[^1]

```mermaid
graph LR
  A[Page] --> B{Gateway}
  B -->|works| C[Computer]
```

> [!WARNING]
> Keep the **spade** dry.

<details>
<summary>The whole list</summary>

- one
- two

</details>

```mermaid
graph nonsense -->
```

[^1]: From the notes.
"""


async def picture(page: Page, name: str) -> None:
    """For looking at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.timeout(240)
async def test_an_answer_has_things_to_hold(tmp_path: Path) -> None:
    async with ModelServer(Answer(texts=(ANSWER,))) as model, chromium() as browser:
        model.answer(
            calls(call("file_write", path="notes.md", content="# Notes\nOne\nTwo\n")),
            calls(call("file_edit", path="notes.md", old="Two", new="Three\nFour")),
        )
        with run_stack(tmp_path / "stack", SANDBOX_DESKTOP="false", **model_settings(model, "chat")) as stack:
            for name, viewport, scheme in (("wide", WIDE, "light"), ("phone", PHONE, "dark")):
                context = await browser.new_context(viewport=viewport, locale="en", color_scheme=scheme)
                page = await context.new_page()
                errors: list[str] = []
                page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
                if name == "wide":
                    await page.goto(stack.base_url)
                    await say(page, "draw it")
                    await page.wait_for_url("**/s/*")
                    address = page.url
                else:
                    await page.goto(address)
                log = transcript(page)
                diagram = log.locator("[data-diagram] img")
                await expect(diagram).to_be_visible(timeout=PATIENT_MS)
                assert await diagram.evaluate("(one) => one.decode().then(() => one.naturalWidth)") > 100
                await expect(log.get_by_text("The diagram can’t be drawn")).to_be_visible(timeout=PATIENT_MS)
                await expect(log.get_by_text("graph nonsense -->")).to_be_visible()
                await expect(log.get_by_text("Warning", exact=True)).to_be_visible()
                await expect(log.get_by_text("one", exact=True)).to_be_hidden()
                await log.get_by_text("The whole list").click()
                await expect(log.get_by_text("one", exact=True)).to_be_visible()
                await log.get_by_role("link", name="1").first.click()
                await expect(log.locator("[data-footnote='1']")).to_be_focused()

                changes = log.get_by_role("button", name="1 file changed")
                await expect(changes).to_contain_text("+5")
                await changes.click()
                await expect(log.get_by_text("+Three")).to_be_visible()
                await picture(page, f"things-{name}")
                await log.get_by_role("button", name="Enlarge: Diagram").click()
                large = page.get_by_role("dialog", name="Diagram")
                await expect(large.get_by_role("img")).to_be_visible()
                await picture(page, f"lightbox-{name}")
                await page.keyboard.press("Escape")
                await expect(large).to_have_count(0)
                assert errors == []
                await context.close()
