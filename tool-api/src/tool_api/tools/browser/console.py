"""The console messages of a page, bounded."""

from __future__ import annotations

from collections import deque
from typing import Any

from tool_api.tools.browser.cdp import Payload

MAX_MESSAGE = 500
MAX_ALL = 20_000
MAX_PARTS = 20
ERRORS = frozenset({"error", "assert", "exception"})
WARNINGS = ERRORS | {"warning"}


class Console:
    """Keeps the newest messages of a level while it listens."""

    def __init__(self, level: str, limit: int) -> None:
        self._kinds = {"errors": ERRORS, "warnings": WARNINGS}.get(level)
        self._lines: deque[str] = deque(maxlen=limit)
        self._count = 0

    def on_event(self, method: str, parameters: Payload, _: str | None) -> None:
        """Record those of Chrome's events that are messages."""
        match method:
            case "Runtime.consoleAPICalled":
                parts = parameters.get("args", [])[:MAX_PARTS]
                self._add(str(parameters.get("type")), " ".join(_part_text(part) for part in parts), _place(parameters))
            case "Runtime.exceptionThrown":
                details: dict[str, Any] = parameters.get("exceptionDetails", {})
                thrown: dict[str, Any] = details.get("exception", {})
                self._add("exception", str(thrown.get("description") or details.get("text")), _location(details))
            case "Log.entryAdded":
                entry: dict[str, Any] = parameters.get("entry", {})
                self._add(str(entry.get("level")), str(entry.get("text")), _location(entry))
            case _:
                pass

    def recent_messages(self) -> str:
        """The newest messages that fit, oldest first."""
        kept: list[str] = []
        room = MAX_ALL
        for line in reversed(self._lines):
            room -= len(line) + 1
            if room < 0:
                break
            kept.append(line)
        if not kept:
            return "The console of this page has no such messages."
        said = f"The newest {len(kept)} of {self._count} messages" if len(kept) < self._count else "The messages"
        return "\n".join([f"{said} of the page's console, oldest first:", *reversed(kept)])

    def _add(self, kind: str, text: str, place: str) -> None:
        if self._kinds is not None and kind not in self._kinds:
            return
        self._count += 1
        cut = "…" if len(text) > MAX_MESSAGE else ""
        self._lines.append(f"[{kind[:20]}] {text[:MAX_MESSAGE]}{cut}{place}")


def _part_text(part: Payload) -> str:
    value = part.get("value", part.get("unserializableValue", part.get("description", part.get("type"))))
    return str(value)[:MAX_MESSAGE]


def _place(parameters: Payload) -> str:
    frames: list[Payload] = parameters.get("stackTrace", {}).get("callFrames", [])
    return _location(frames[0]) if frames else ""


def _location(found: Payload) -> str:
    url = str(found.get("url") or "")
    return f" ({url[:200]}:{int(found.get('lineNumber') or 0) + 1})" if url else ""
