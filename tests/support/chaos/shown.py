"""What a page shows of a conversation, against what the gateway answers of it."""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import Page

from support.api_client import ApiClient

Row = tuple[str, str]
MOST_BESIDE = 40
"""Characters that a row may say beside its text: which way is shown, that it was cut short."""
_ROWS = """() => [...document.querySelectorAll('[role=log] [data-kind]')].map((row) => [
    row.dataset.kind,
    ((row.dataset.kind === 'user' && row.querySelector('[dir=auto]')) || row).innerText.split(/\\s+/).join(' ').trim(),
])"""
_SAID = ("user", "assistant")
_ABOVE = re.compile(r"(Since your last visit: \d+ files? changed( \+\d+)?( −\d+)? )?(Agent )?")
"""Before what the agent says: what changed since the last visit, and who speaks, for who does not see it."""


async def said_rows(page: Page) -> list[Row]:
    """What was said, in the order in which it stands there."""
    rows: list[list[str]] = await page.evaluate(_ROWS)
    return [(kind, _ABOVE.sub("", text, count=1)) for kind, text in rows if kind in _SAID]


async def path_of(api: ApiClient, session: str) -> list[dict[str, Any]]:
    """The events of the way that is shown."""
    items: list[dict[str, Any]] = []
    before = 2**53
    while True:
        query = {"format": "json", "before": before, "limit": 500, "on_path": "true"}
        page = await api.json("GET", f"/sessions/{session}/events", params=query)
        ranges, since = page["path"], page["path_since"] or 0
        found = [
            one
            for one in page["items"]
            if ranges is None or one["seq"] >= since or any(first <= one["seq"] <= last for first, last in ranges)
        ]
        items = [*found, *items]
        if not page["has_more"]:
            return items
        before = page["items"][0]["seq"]


def said_events(events: list[dict[str, Any]]) -> list[Row]:
    """What a page shows of these: an answer stands above what was said after the last word that it has seen."""
    rows: list[tuple[str, str, int]] = []
    for event in events:
        text = " ".join(str(event.get("text", "")).split())
        if event["type"] == "message.user":
            rows.append(("user", text, event["seq"]))
        elif event["type"] == "message.completed" and text:
            at = len(rows)
            while at > 0 and rows[at - 1][0] == "user" and rows[at - 1][2] > event["seen_seq"]:
                at -= 1
            rows.insert(at, ("assistant", text, event["seq"]))
    return [(kind, text) for kind, text, _ in rows]


def difference(shown: list[Row], expected: list[Row]) -> str:
    """Empty where a page shows what it should; of a long conversation its end is enough."""
    if len(shown) < min(len(expected), 12) or len(shown) > len(expected):
        return f"{len(shown)} rows of {len(expected)}: {_short(shown)} instead of {_short(expected)}"
    for (kind, text), (wanted_kind, wanted) in zip(reversed(shown), reversed(expected), strict=False):
        beside = text.removeprefix(wanted) if text.startswith(wanted) else None
        if kind != wanted_kind or beside is None or len(beside) > MOST_BESIDE:
            return f"{kind} {text[:300]!r} instead of {wanted_kind} {wanted[:300]!r}"
    return ""


def _short(rows: list[Row]) -> list[str]:
    return [f"{kind}: {text[:40]}" for kind, text in rows]
