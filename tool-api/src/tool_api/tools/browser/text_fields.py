"""Typing text into fields, and checking the result."""

from __future__ import annotations

import json
from typing import Any

from tool_api.tools.browser.driver import BrowserDriver, RefusedError
from tool_api.tools.browser.tab import Tab

MAX_SHOWN = 200
FORMS = {
    "date": "a date such as 2026-01-31",
    "time": "a time such as 14:05",
    "datetime-local": "a date and a time such as 2026-01-31T14:05",
    "month": "a month such as 2026-01",
    "week": "a week such as 2026-W05",
    "color": "a colour such as #00ff00",
    "range": "a number within its limits",
}
"""Fields that are not typed into: their value is set as a whole."""


class TextFields:
    """Types as a person does, and reads the field's content afterwards."""

    def __init__(self, driver: BrowserDriver) -> None:
        self._driver = driver

    async def fill(self, tab: Tab, index: int | None, text: str, *, clear: bool) -> str:
        """Fill a field and return what it holds then. Raises `RefusedError` if the field takes no text, or took none of
        this."""
        where = json.dumps(index)
        field: dict[str, Any] = await tab.call(f"field({where})")
        name = f"Element [{index}]" if index is not None else "What has the focus"
        if (refusal := field.get("refusal")) is not None:
            raise RefusedError(f"{name} {str(refusal)[:MAX_SHOWN]}.")
        if (kind := str(field.get("type"))) in FORMS:
            return await self._set_value(tab, where, name, kind, text)
        if index is not None:
            place = await self._driver.locate(tab, index)
            await self._driver.press(tab, place["x"], place["y"], "left", 1)
            if not await tab.call(f"focus({index}, {json.dumps(clear)})"):
                raise RefusedError(f"{name} does not take text.")
            if clear:
                await self._driver.key(tab, "Delete")
        if text:
            await tab.send("Input.insertText", {"text": text})
        return _outcome(name, text, await tab.call(f"typed({where}, {json.dumps(text)}, {json.dumps(clear)})"))

    async def _set_value(self, tab: Tab, where: str, name: str, kind: str, text: str) -> str:
        value = str(await tab.call(f"setValue({where}, {json.dumps(text)})"))[:MAX_SHOWN]
        if value == text.strip():
            return f"Set it to {value!r}." if value else "Emptied it."
        raise RefusedError(f"{name} takes {FORMS[kind]}. It was given {text[:MAX_SHOWN]!r} and has {value!r} now.")


def _outcome(name: str, text: str, found: dict[str, Any] | None) -> str:
    if found is None or found.get("same"):
        return "Typed."
    limit = int(found.get("limit") or -1)
    reason = f" It takes {limit:,} characters at most." if 0 <= limit < len(text) else ""
    if found.get("type") == "number":
        reason = " It takes a number."
    if found.get("secret"):
        return (
            f"Typed, but the field has {int(found.get('length') or 0):,} characters now, and not {len(text):,}.{reason}"
        )
    value = str(found.get("value"))
    shown = f"{value[:MAX_SHOWN]!r}{' and more' if len(value) > MAX_SHOWN else ''}"
    if not value and text:
        raise RefusedError(f"{name} accepted none of the text: it is empty now.{reason}")
    return f"Typed, but the field has {shown} now.{reason}"
