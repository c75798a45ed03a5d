"""A page that is made to take a reader's time, memory or life takes a bounded share of each, and nobody else's turn."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import psutil
import pytest

from backend_api.kit.untrusted.guarded_client import Fetched
from backend_api.web.fetch import page_text
from backend_api.web.fetch.page_text import MAX_TEXT_CHARACTERS, PageReader, UnreadableError
from backend_api.web.tools.web_fetch import LIMITS
from support.gate import some_in_gate

MOST = LIMITS.body_bytes
WITHIN_S = 3.0
HOSTILE = {
    "nested": "<div>" * (MOST // 5),
    "bold": "<b>" * (MOST // 3),
    "lists": "<ul><li>" * (MOST // 8),
    "quotes": "<blockquote>" * (MOST // 12),
    "tables": "<table><tr><td>" * (MOST // 15),
    "links": "<a>" * (MOST // 3),
    "attributes": "<a " + "x=1 " * (MOST // 4 - 2) + ">",
    "brackets": "<" * MOST,
    "entities": "&" * MOST,
    "comments": "<!--" * (MOST // 4),
    "scripts": "<script>" * (MOST // 8),
    "cells": "<table><tr>" + "<td>" * (MOST // 4 - 10),
    "spans": "<table>" + "<tr><td colspan=1000 rowspan=65534>x</td></tr>" * 2_000 + "</table>",
    "titles": "<title " * (MOST // 7),
    "charsets": "<meta " * (MOST // 6),
    "nothing": "",
}


def fetched(page: str) -> Fetched:
    return Fetched(url="https://page.example/", status=200, media_type="text/html", charset="", content=page.encode())


@pytest.mark.parametrize(
    "name", some_in_gate(HOSTILE, ("nested", "quotes", "attributes", "scripts", "cells", "spans", "nothing"))
)
async def test_a_page_is_read_or_refused_in_a_bounded_time_while_others_have_their_turn(name: str) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    beside, began = asyncio.create_task(other()), asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(WITHIN_S + 10):
            read = await PageReader(within_s=WITHIN_S).read(fetched(HOSTILE[name]))
    except UnreadableError:
        pass
    else:
        assert len(read.text) <= MAX_TEXT_CHARACTERS
    finally:
        beside.cancel()
    # A tenth of its turns, whatever else the machine does.
    assert turns >= (asyncio.get_running_loop().time() - began) * 10 - 5
    assert programs() == []


def programs() -> list[psutil.Process]:
    return [
        one
        for one in psutil.Process(os.getpid()).children()
        if any("markdown_program" in part for part in one.cmdline())
    ]


async def test_a_reader_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page_text, "_PROGRAM", endless(tmp_path))
    with pytest.raises(UnreadableError, match="too long"):
        await PageReader(within_s=0.5).read(fetched("<p>x"))
    assert programs() == []


async def test_who_stops_ends_the_program_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page_text, "_PROGRAM", endless(tmp_path))
    reading = asyncio.create_task(PageReader().read(fetched("<p>x")))
    async with asyncio.timeout(5):
        while not programs():
            await asyncio.sleep(0.01)
    reading.cancel()
    await asyncio.wait({reading}, timeout=1)
    assert reading.cancelled()
    assert programs() == []


@pytest.mark.parametrize("body", ["import os; os.abort()", "print('no json')", "raise SystemExit(3)"])
async def test_a_reader_that_dies_is_a_page_that_can_not_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str
) -> None:
    monkeypatch.setattr(page_text, "_PROGRAM", program(tmp_path, body))
    with pytest.raises(UnreadableError, match="could not be parsed"):
        await PageReader().read(fetched("<p>x" * 100_000))


async def test_the_reader_knows_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-secret")
    body = "import json,os; print(json.dumps({'title': '', 'text': ' '.join(os.environ), 'length': 1}))"
    monkeypatch.setattr(page_text, "_PROGRAM", program(tmp_path, body))
    assert "TAVILY_API_KEY" not in (await PageReader().read(fetched("<p>x"))).text


def endless(folder: Path) -> Path:
    return program(folder, "import time\nwhile True: time.sleep(1)")


def program(folder: Path, body: str) -> Path:
    path = folder / "markdown_program.py"
    path.write_text(body)
    return path
