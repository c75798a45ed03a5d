"""What a kernel says while it runs code, as bounded lines for the tool API. It may say anything, without end."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

from tool_api.installed_paths import without_installed_paths
from tool_api.tools.code.bridge.throttle import Throttle
from tool_api.tools.code.bridge.wire import Fields, Message, is_fields, text_of
from tool_api.tools.code.tables import table_of

HEAD = TAIL = 500_000
"""Characters of what is written that are told: the first as they come, the last at the end."""
MAX_SHOWN = 100
MAX_SHOWN_TEXT = 100_000
MAX_PICTURE = 2_700_000
"""Characters of base64."""
MAX_HELD = 12_000_000
"""Characters of what is shown and not told yet."""
_PIECE = 100_000
_TOO_LARGE = "[A picture that is too large was left out; save it to a file.]"
_PICTURES = ("image/png", "image/jpeg", "image/webp")
_TEXTS = ("text/plain", "text/markdown", "text/latex")


@dataclass(slots=True)
class _Screen:
    """What was told since it was last cleared, by its sizes, and what is to be told at the end."""

    head: int = HEAD
    tail: deque[str] = field(default_factory=deque[str])
    tail_size: int = 0
    dropped: int = 0
    shown: int = 0
    held: dict[str, Fields] = field(default_factory=dict[str, Fields])
    held_size: int = 0
    said: set[str] = field(default_factory=set[str])
    """What was remarked on it."""


class Outputs:
    """Those of one execution. What was cleared counts toward no bound but the throttle's: what comes faster is held,
    and told once there is time, or at the end, unless it was cleared until then. `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._throttle = Throttle(clock)
        self._screen = _Screen()
        self._has_told = False
        self._is_clear_due = False
        self.has_failed = False

    def take_message(self, message: Message) -> Iterator[Fields]:
        """What is told of a message at once."""
        match message.kind:
            case "stream":
                yield from self._emit_text(text_of(message.content.get("text")))
            case "display_data" | "execute_result" | "update_display_data":
                yield from self._show(message)
            case "error":
                self.has_failed = True
                text = _traceback(message.content)
                may_tell = self._throttle.has_room()
                yield from self._emit({"type": "error", "text": text}) if may_tell else self._emit_text(text)
            case "clear_output":
                # Told with what comes next, as that replaces it.
                self._is_clear_due = self._has_told
                self._screen = _Screen()
            case _:
                return

    def rest(self) -> Iterator[Fields]:
        """What is told at the end."""
        screen = self._screen
        yield from self._emit(*screen.held.values())
        if screen.dropped:
            yield from self._emit({"type": "text", "text": f"\n[... {screen.dropped} characters left out ...]\n"})
        for text in screen.tail:
            yield from self._emit(*_pieces(text))

    def _emit(self, *lines: Fields) -> Iterator[Fields]:
        if self._is_clear_due:
            self._is_clear_due = self._has_told = False
            self._throttle.count(0)
            yield {"type": "cleared"}
        for fields in lines:
            self._has_told = True
            self._throttle.count(_size(fields))
            yield fields

    def _emit_text(self, text: str) -> Iterator[Fields]:
        screen = self._screen
        if not self._throttle.has_room():
            screen.head = 0
        now, later = text[: screen.head], text[screen.head :]
        screen.head -= len(now)
        if now:
            yield from self._emit(*_pieces(now))
        if not later:
            return
        screen.tail.append(later)
        screen.tail_size += len(later)
        while screen.tail_size > TAIL:
            excess = screen.tail_size - TAIL
            first = screen.tail.popleft()
            cut = min(excess, len(first))
            if cut < len(first):
                screen.tail.appendleft(first[cut:])
            screen.tail_size -= cut
            screen.dropped += cut

    def _show(self, message: Message) -> Iterator[Fields]:
        transient = message.content.get("transient")
        key = text_of(transient.get("display_id"))[:200] if is_fields(transient) else ""
        is_update = message.kind == "update_display_data"
        if is_update and not key:
            return
        screen = self._screen
        if screen.shown < MAX_SHOWN and self._throttle.has_room():
            screen.shown += 1
            held, screen.held, screen.held_size = screen.held, {}, 0
            yield from self._emit(*held.values(), _shown_fields(message, key, is_update=is_update))
        elif screen.shown < MAX_SHOWN:
            name = key or f"\0{screen.shown}"
            screen.shown += name not in screen.held
            yield from self._defer(name, _shown_fields(message, key, is_update=is_update))
        elif key and (key in screen.held or len(screen.held) < MAX_SHOWN):
            # Of what is shown anew again and again, such as a progress bar, the last is told.
            yield from self._defer(key, _shown_fields(message, key, is_update=True))
        else:
            yield from self._warn_once(f"\n[Only the first {MAX_SHOWN} things that were shown are told.]\n")

    def _defer(self, name: str, fields: Fields) -> Iterator[Fields]:
        screen = self._screen
        before = screen.held.get(name)
        size = screen.held_size + _size(fields) - (_size(before) if before is not None else 0)
        if size > MAX_HELD:
            yield from self._warn_once("\n[Some of what was shown is left out: it came faster than it is told.]\n")
            return
        is_update = fields["is_update"] and (before is None or before["is_update"])
        screen.held[name], screen.held_size = fields | {"is_update": is_update}, size

    def _warn_once(self, text: str) -> Iterator[Fields]:
        if text not in self._screen.said:
            self._screen.said.add(text)
            yield from self._emit_text(text)


def line_of(fields: Fields) -> bytes:
    """As the tool API reads it: halves of surrogate pairs, of which no UTF-8 can be made, are replaced."""
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _pieces(text: str) -> Iterator[Fields]:
    for start in range(0, len(text), _PIECE):
        yield {"type": "text", "text": text[start : start + _PIECE]}


def _shown_fields(message: Message, key: str, *, is_update: bool) -> Fields:
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


def _size(fields: Fields) -> int:
    table = fields.get("table")
    cells = sum(len(cell) for row in table["rows"] for cell in row) if table else 0
    return len(fields["text"]) + len(fields.get("picture") or "") + cells


def _traceback(content: Fields) -> str:
    """The end of it, which says what the error is."""
    lines = content.get("traceback")
    if isinstance(lines, list) and lines:
        text = "\n".join(text_of(line) for line in cast("list[object]", lines))
        return without_installed_paths(text[-MAX_SHOWN_TEXT:])
    text = f"{text_of(content.get('ename'))[:1000]}: {text_of(content.get('evalue'))[:MAX_SHOWN_TEXT]}"
    return text[-MAX_SHOWN_TEXT:]
