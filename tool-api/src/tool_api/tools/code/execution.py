"""One execution in a context: its code, its output, and its outcome."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, cast

from contracts.tools import CodeTable
from tool_api.installed_paths import without_installed_paths
from tool_api.tools.code.tables import table_of
from tool_api.tools.followed import Followed

HEAD = TAIL = 400_000
"""Most characters of written text: the first are kept as they come, the last are added at the end."""
SHOWN = 250_000
"""Most characters of shown text and of errors together."""
MAX_SHOWN = 100
MAX_SHOWN_TEXT = 100_000
MAX_PICTURE = 2_700_000
"""Most characters of a picture in base64."""
_PICTURES_ROOM = 12_000_000
_TOO_LARGE = "[A picture that is too large was left out; save it to a file.]"
_ONLY_FIRST = f"\n[Only the first {MAX_SHOWN} outputs are shown.]\n"
_PICTURES = ("image/png", "image/jpeg", "image/webp")
_TEXTS = ("text/plain", "text/markdown", "text/latex")

Fields = dict[str, Any]


@dataclass(slots=True)
class Passage:
    """Text that was written in one go, in the pieces it came in."""

    is_error: bool
    pieces: list[str]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A result, or something that was displayed."""

    text: str = ""
    picture: str | None = None
    media_type: str | None = None
    table: CodeTable | None = None


class Execution(Followed):
    """Collects the messages of a kernel about its code, within bounds."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code
        self.success = False
        self.ended: str | None = None
        """The reason why the kernel is gone, if it ended before the execution did."""
        self._has_failed = False
        self._is_clear_due = False
        self._forget()

    @property
    def outputs(self) -> list[Passage | Shown]:
        """The kept outputs, in their order."""
        return list(self._outputs)

    def add_message(self, message: Fields) -> None:
        """Collect a message of the kernel's IOPub channel."""
        content = cast("Fields", message["content"])
        match message["header"]["msg_type"]:
            case "stream":
                self._write(_text_of(content.get("text")))
            case "display_data" | "execute_result" | "update_display_data" as kind:
                self._show(content, is_update=kind == "update_display_data")
            case "error":
                self._has_failed = True
                self._write(_traceback(content), is_error=True)
            case "clear_output":
                # The next output replaces the present one, and clears it then.
                self._is_clear_due = True
            case _:
                return

    def finish(self, *, success: bool, ended: str | None = None) -> None:
        """End the execution; only the first call counts."""
        if self.is_finished:
            return
        self.success, self.ended = success and not self._has_failed, ended
        if self._dropped:
            self._add_text(f"\n[... {self._dropped} characters left out ...]\n")
        for text in self._tail:
            self._add_text(text)
        self._set_finished()

    def _forget(self) -> None:
        self._outputs: list[Passage | Shown] = []
        self._by_key: dict[str, int] = {}
        self._room, self._shown_room, self._pictures_room = HEAD, SHOWN, _PICTURES_ROOM
        self._shown = 0
        self._tail: deque[str] = deque()
        self._tail_size = self._dropped = 0

    def _clear_if_due(self) -> None:
        if self._is_clear_due:
            self._is_clear_due = False
            self._forget()

    def _write(self, text: str, *, is_error: bool = False) -> None:
        self._clear_if_due()
        if is_error and len(text) <= self._shown_room:
            self._shown_room -= len(text)
            self._outputs.append(Passage(is_error=True, pieces=[text]))
            self._add_unread(text)
            return
        now, later = text[: self._room], text[self._room :]
        self._room -= len(now)
        self._add_text(now)
        if later:
            self._keep_at_end(later)

    def _add_text(self, text: str) -> None:
        if not text:
            return
        last = self._outputs[-1] if self._outputs else None
        if isinstance(last, Passage) and not last.is_error:
            last.pieces.append(text)
        else:
            self._outputs.append(Passage(is_error=False, pieces=[text]))
        self._add_unread(text)

    def _keep_at_end(self, text: str) -> None:
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size > TAIL:
            first = self._tail.popleft()
            rest = first[self._tail_size - TAIL :]
            self._dropped += len(first) - len(rest)
            self._tail_size -= len(first) - len(rest)
            if rest:
                self._tail.appendleft(rest)

    def _show(self, content: Fields, *, is_update: bool) -> None:
        self._clear_if_due()
        transient = content.get("transient")
        key = _text_of(transient.get("display_id")) if _is_fields(transient) else ""
        at = self._by_key.get(key) if key else None
        before = self._outputs[at] if at is not None else None
        if is_update and before is None:
            return
        if isinstance(before, Shown):
            self._shown_room += len(before.text)
            self._pictures_room += len(before.picture or "")
        elif self._shown >= MAX_SHOWN:
            if self._shown == MAX_SHOWN:
                self._shown += 1
                self._write(_ONLY_FIRST)
            return
        shown = self._within_room(_shown_of(content))
        if at is not None and before is not None:
            self._outputs[at] = shown
            return
        if key:
            self._by_key[key] = len(self._outputs)
        self._shown += 1
        self._outputs.append(shown)
        self._add_unread(f"{shown.text}\n" if shown.text else "")

    def _within_room(self, shown: Shown) -> Shown:
        text = shown.text[: self._shown_room]
        self._shown_room -= len(text)
        picture = shown.picture if len(shown.picture or "") <= self._pictures_room else None
        self._pictures_room -= len(picture or "")
        return replace(shown, text=text, picture=picture)


def _shown_of(content: Fields) -> Shown:
    data = content.get("data")
    data = data if _is_fields(data) else {}
    text = next((found for kind in _TEXTS if (found := _text_of(data.get(kind)))), "")
    if (left_out := len(text) - MAX_SHOWN_TEXT) > 0:
        text = f"{text[:MAX_SHOWN_TEXT]}\n[... {left_out} characters left out ...]"
    for kind in _PICTURES:
        if picture := "".join(_text_of(data.get(kind)).split()):
            if len(picture) > MAX_PICTURE:
                return Shown(text=f"{_TOO_LARGE} {text[:1000]}")
            return Shown(text=text, picture=picture, media_type=kind)
    return Shown(text=text, table=table_of(_text_of(data.get("text/html"))))


def _traceback(content: Fields) -> str:
    """The end of the traceback, which names the error."""
    lines = content.get("traceback")
    if isinstance(lines, list) and lines:
        text = "\n".join(_text_of(line) for line in cast("list[object]", lines))
        return without_installed_paths(text[-MAX_SHOWN_TEXT:])
    return f"{_text_of(content.get('ename'))}: {_text_of(content.get('evalue'))}"[-MAX_SHOWN_TEXT:]


def _is_fields(value: object) -> TypeGuard[Fields]:
    return isinstance(value, dict)


def _text_of(value: object) -> str:
    """A text, or the lines of one, else nothing; half a surrogate pair, which is no UTF-8, is replaced."""
    if isinstance(value, list):
        value = "".join(line for line in cast("list[object]", value) if isinstance(line, str))
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
