"""What a kernel says while it runs code, as bounded lines for the tool API. It may say anything, without end."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from typing import cast

from tool_api.tools.code.bridge.tables import table_of
from tool_api.tools.code.bridge.wire import Fields, Message, is_fields, text_of

HEAD = TAIL = 500_000
"""Characters of what is written that are told: the first as they come, the last at the end."""
MAX_SHOWN = 100
MAX_SHOWN_TEXT = 100_000
MAX_PICTURE = 2_700_000
"""Characters of base64."""
_PIECE = 100_000
_TOO_LARGE = "[A picture that is too large was left out; save it to a file.]"
_PICTURES = ("image/png", "image/jpeg", "image/webp")
_TEXTS = ("text/plain", "text/markdown", "text/latex")


class Outputs:
    """Those of one execution."""

    def __init__(self) -> None:
        self._head = HEAD
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._shown = 0
        self._updates: dict[str, Fields] = {}
        self.has_failed = False

    def take(self, message: Message) -> Iterator[Fields]:
        """What is told of a message at once."""
        match message.kind:
            case "stream":
                yield from self._written(text_of(message.content.get("text")))
            case "display_data" | "execute_result" | "update_display_data":
                yield from self._show(message)
            case "error":
                self.has_failed = True
                yield {"type": "error", "text": _traceback(message.content)[-MAX_SHOWN_TEXT:]}
            case "clear_output":
                self._tail.clear()
                self._tail_size = 0
                yield {"type": "cleared"}
            case _:
                return

    def rest(self) -> Iterator[Fields]:
        """What is told at the end."""
        yield from self._updates.values()
        if self._dropped:
            yield {"type": "text", "text": f"\n[... {self._dropped} characters left out ...]\n"}
        for text in self._tail:
            yield from _pieces(text)

    def _written(self, text: str) -> Iterator[Fields]:
        now, later = text[: self._head], text[self._head :]
        self._head -= len(now)
        yield from _pieces(now)
        if not later:
            return
        self._tail.append(later)
        self._tail_size += len(later)
        while self._tail_size > TAIL:
            excess = self._tail_size - TAIL
            first = self._tail.popleft()
            cut = min(excess, len(first))
            if cut < len(first):
                self._tail.appendleft(first[cut:])
            self._tail_size -= cut
            self._dropped += cut

    def _show(self, message: Message) -> Iterator[Fields]:
        transient = message.content.get("transient")
        key = text_of(transient.get("display_id"))[:200] if is_fields(transient) else ""
        is_update = message.kind == "update_display_data"
        if is_update and not key:
            return
        if self._shown < MAX_SHOWN:
            self._shown += 1
            yield _shown(message, key, is_update=is_update)
        elif key and (key in self._updates or len(self._updates) < MAX_SHOWN):
            # Of what is shown anew again and again, such as a progress bar, the last is told.
            self._updates[key] = _shown(message, key, is_update=True)
        elif self._shown == MAX_SHOWN:
            self._shown += 1
            yield from self._written(f"\n[Only the first {MAX_SHOWN} things that were shown are told.]\n")


def line_of(fields: Fields) -> bytes:
    """As the tool API reads it: halves of surrogate pairs, of which no UTF-8 can be made, are replaced."""
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _pieces(text: str) -> Iterator[Fields]:
    for start in range(0, len(text), _PIECE):
        yield {"type": "text", "text": text[start : start + _PIECE]}


def _shown(message: Message, key: str, *, is_update: bool) -> Fields:
    data = message.content.get("data")
    data = data if is_fields(data) else {}
    text = next((found for kind in _TEXTS if (found := text_of(data.get(kind)))), "")
    fields: Fields = {"type": "shown", "key": key, "is_update": is_update, "text": text[:MAX_SHOWN_TEXT]}
    for kind in _PICTURES:
        if picture := "".join(text_of(data.get(kind)).split()):
            if len(picture) > MAX_PICTURE:
                return fields | {"text": f"{_TOO_LARGE} {text[:1000]}"}
            return fields | {"picture": picture, "media_type": kind}
    return fields | {"table": table_of(text_of(data.get("text/html")))}


def _traceback(content: Fields) -> str:
    lines = content.get("traceback")
    if isinstance(lines, list) and lines:
        return "\n".join(text_of(line) for line in cast("list[object]", lines))
    return f"{text_of(content.get('ename'))[:1000]}: {text_of(content.get('evalue'))[:MAX_SHOWN_TEXT]}"
