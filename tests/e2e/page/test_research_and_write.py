"""From a question to an exported paper in one conversation, with the panels beside it: papers are found and kept, a
draft is written with them, one suggestion is accepted and one rejected, and each reload loses nothing."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from support.api_client import ApiClient, Json
from support.model_server import Answer, Call, ModelServer
from support.page import PHONE, WIDE, chromium, say
from support.research.fake_sources import fake_sources
from support.research.known_papers import KNOWN
from support.scripted_stack import tools_of
from support.stack import Stack, run_stack

PATIENT_MS = 90_000
PAPERS = (KNOWN[2], KNOWN[3])
DRAFT = "Nets of many layers learn what they need [@lecun2015deep], and keep it for long [@hochreiter1997long]."
_RECORD, _PROJECT, _ETAG = (
    re.compile(pattern) for pattern in (r"rec_[0-9a-f]{32}", r"prj_[0-9a-f]{20}", r"etag ([0-9a-f]{16})")
)


async def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / f"research-{name}.png")


async def check_access(page: Page) -> None:
    """Where AXE names the file of axe-core: nothing of what is shown is out of reach."""
    if file := os.environ.get("AXE"):
        await page.evaluate(Path(file).read_text(encoding="utf-8"))
        rules = "{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }"
        told = "one.id + ': ' + one.nodes.map(({ html }) => html.slice(0, 200)).join(' | ')"
        found = await page.evaluate(f"async () => (await axe.run({rules})).violations.map((one) => {told})")
        assert found == []


def call(number: int, name: str, **arguments: Any) -> Answer:
    made = Call(name=name, id=f"call_{number}", arguments=json.dumps(arguments))
    return Answer(texts=(), calls=(made,))


def respond(request: Json) -> Answer:
    """Searches, keeps two papers, writes two sections with them, and suggests another text for each."""
    messages: list[Json] = request["messages"]
    if not tools_of(request):
        return Answer(texts=("A paper on deep nets",))
    said = sum(message["role"] == "assistant" for message in messages)
    results = [str(message["content"]) for message in messages if message["role"] == "tool"]
    records = list(dict.fromkeys(_RECORD.findall(" ".join(results))))
    project = next(iter(_PROJECT.findall(" ".join(results))), "")

    def etag(section: str) -> str:
        told = [found for one in results if f"Stored {section} " in one for found in _ETAG.findall(one)]
        return told[-1] if told else ""

    titles = [{"title": "Introduction"}, {"title": "What follows"}]
    steps: list[Callable[[], Answer]] = [
        lambda: call(said, "papers_search", query="deep learning", limit=5),
        lambda: call(said, "corpus_add", id=PAPERS[0].doi),
        lambda: call(said, "corpus_add", id=PAPERS[1].doi),
        lambda: call(said, "project_create", title="What deep nets keep", authors=["Anna Weber"]),
        lambda: call(said, "outline_set", project=project, outline=titles),
        lambda: call(said, "citation_add", project=project, record=records[0]),
        lambda: call(said, "citation_add", project=project, record=records[1]),
        lambda: call(said, "section_write", project=project, section="s1", text=DRAFT),
        lambda: call(said, "section_write", project=project, section="s2", text="More of it is to come."),
        lambda: call(
            said,
            "section_refine",
            project=project,
            section="s1",
            etag=etag("s1"),
            instruction="Say it in full",
            text=DRAFT.replace("Nets", "Neural nets"),
        ),
        lambda: call(
            said,
            "section_refine",
            project=project,
            section="s2",
            etag=etag("s2"),
            instruction="Promise less",
            text="Nothing follows.",
        ),
    ]
    return steps[said]() if said < len(steps) else Answer(texts=("The draft is beside our conversation.",))


@pytest.mark.timeout(400)
async def test_a_question_becomes_an_exported_paper(tmp_path: Path) -> None:
    async with fake_sources() as fakes, ModelServer(respond=respond) as model:
        settings = {
            "LLM_PROVIDER": "openai",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_BASE_URL": model.openai_url,
            "MODEL": "scripted",
            "SANDBOX_DESKTOP": "false",
            "FETCH_ALLOWED_HOSTS": ",".join(fakes.hosts),
            "RESEARCH_SOURCE_URLS": ",".join(f"{name}={url}" for name, url in fakes.urls.items() if name != "files"),
        }
        with run_stack(tmp_path / "stack", **settings) as stack:
            async with chromium() as browser, ApiClient(stack.base_url) as api:
                page = await browser.new_page(viewport=WIDE)
                await page.goto(stack.base_url)
                await say(page, "@papers @writing Write with me on what deep nets keep")
                await expect(page.get_by_text("The draft is beside our conversation.")).to_be_visible(
                    timeout=PATIENT_MS
                )
                await looks_at_papers(page)
                await decides_and_exports(page)
                (listed,) = (await api.json("GET", "/writing"))["items"]
                project = await api.json("GET", f"/writing/{listed['id']}")
                assert [one["text"] for one in project["sections"]] == [
                    DRAFT.replace("Nets", "Neural nets"),
                    "More of it is to come.",
                ]
                await two_tabs(page, await browser.new_page(viewport=WIDE), stack, listed["id"])
                await small_screens(await browser.new_page(viewport=PHONE, color_scheme="dark"), stack, listed["id"])


async def looks_at_papers(page: Page) -> None:
    await page.get_by_role("button", name="Show computer").click()
    await page.get_by_role("tab", name="Papers").click()
    papers = page.get_by_role("list", name="Papers that you keep")
    await expect(papers.get_by_role("button")).to_have_count(2, timeout=PATIENT_MS)
    await page.reload()
    await expect(papers.get_by_role("button")).to_have_count(2, timeout=PATIENT_MS)
    await picture(page, "papers")
    await papers.get_by_role("button", name=PAPERS[0].title).click()
    await expect(page.get_by_text("Nature 521(7553), 436–444, 2015")).to_be_visible()
    await page.get_by_label("Notes").fill("Read the part on memory")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_text("Saved.")).to_be_visible()
    await check_access(page)
    await page.get_by_role("button", name="Back to the list").click()
    await expect(papers).to_be_visible()


async def decides_and_exports(page: Page) -> None:
    await page.get_by_role("tab", name="Draft").click()
    first = page.get_by_role("region", name="Suggested text of “Introduction”")
    second = page.get_by_role("region", name="Suggested text of “What follows”")
    await expect(page.get_by_text("For: Say it in full")).to_be_visible(timeout=PATIENT_MS)
    await picture(page, "suggestions")
    await check_access(page)
    await first.get_by_role("button", name="Accept", exact=True).first.click()
    await expect(page.get_by_text("For: Say it in full")).not_to_be_visible()
    await page.reload()
    await expect(page.get_by_text("For: Promise less")).to_be_visible(timeout=PATIENT_MS)
    await second.get_by_role("button", name="Reject", exact=True).first.click()
    await expect(page.get_by_text("For: Promise less")).not_to_be_visible()
    await page.reload()
    await expect(page.get_by_text("Neural nets of many layers", exact=False).first).to_be_visible(timeout=PATIENT_MS)
    await expect(page.get_by_text("(LeCun et al., 2015)")).to_be_visible(timeout=PATIENT_MS)
    await picture(page, "draft")
    async with page.expect_download(timeout=PATIENT_MS) as begun:
        await page.get_by_role("button", name="Export", exact=True).click()
    download = await begun.value
    assert download.suggested_filename == "What deep nets keep.pdf"
    assert Path(await download.path()).read_bytes().startswith(b"%PDF-")


async def two_tabs(page: Page, other: Page, stack: Stack, project: str) -> None:
    """Each has the text before the other one changes it: who is late sees both, and keeps their own."""
    for one in (page, other):
        await one.goto(f"{stack.base_url}/writing/{project}")
        await expect(one.get_by_label("Text of “Introduction”")).to_be_visible(timeout=PATIENT_MS)
    for one, text in ((page, "First. "), (other, "Second. ")):
        await one.get_by_label("Text of “Introduction”").click()
        await one.keyboard.press("Control+Home")
        await one.keyboard.insert_text(text)
        await one.keyboard.press("Control+s")
    await expect(page.get_by_text("Saved.")).to_be_visible()
    await expect(other.get_by_role("alert")).to_contain_text("Somebody else has changed this section")
    await picture(other, "conflict")
    await check_access(other)
    await other.get_by_role("button", name="Keep mine").click()
    await expect(other.get_by_text("Saved.")).to_be_visible()
    await other.get_by_role("button", name="Cite a paper").click()
    await other.get_by_role("searchbox", name="Find one of your papers to cite").fill("memory")
    await picture(other, "cite")
    await check_access(other)
    await other.get_by_role("button", name=PAPERS[1].title).click()
    await expect(other.get_by_label("Text of “Introduction”")).to_contain_text("Second. [@hochreiter1997long]")


async def small_screens(small: Page, stack: Stack, project: str) -> None:
    for place, name in ((f"/writing/{project}", "phone-project"), ("/corpus", "phone-papers")):
        await small.goto(f"{stack.base_url}{place}")
        await expect(small.get_by_role("main")).to_be_visible(timeout=PATIENT_MS)
        await expect(small.get_by_text("Introduction" if "writing" in place else PAPERS[0].title).first).to_be_visible(
            timeout=PATIENT_MS
        )
        await picture(small, name)
        await check_access(small)
        assert await small.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
