"""One execution in a context: its code, what it showed, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.tools import MAX_CODE_OUTPUTS, MAX_OUTPUT_CHARACTERS
from tool_api.tools.code.lines import Said, Shown, Written
from tool_api.tools.followed import Followed

_ROOM = MAX_OUTPUT_CHARACTERS + 50_000
"""Characters of all texts that are kept; a bridge that is one says less."""
_PICTURES_ROOM = 12_000_000


@dataclass(slots=True)
class Passage:
    """What was written in one go, in the pieces it came in."""

    is_error: bool
    pieces: list[str]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Execution(Followed):
    """Filled by the kernel."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code
        self.success = False
        self.ended: str | None = None
        """Why the kernel is gone, where it ended before the execution did."""
        self._said: dict[int, Passage | Shown] = {}
        self._last: Passage | None = None
        self._keys: dict[str, int] = {}
        self._next = 0
        self._room = _ROOM
        self._pictures_room = _PICTURES_ROOM

    @property
    def said(self) -> list[Passage | Shown]:
        """In its order."""
        return list(self._said.values())

    def add(self, line: Said) -> None:
        """Take what was said; past the bounds it is dropped."""
        match line:
            case Written():
                self._write(line)
            case Shown():
                self._show(line)
            case _:
                # What was written is kept: it has been shown to whoever watches.
                self._said.clear()
                self._keys.clear()
                self._last = None
                self._room, self._pictures_room = _ROOM, _PICTURES_ROOM

    def finish(self, *, success: bool, ended: str | None = None) -> None:
        if self.is_finished:
            return
        self.success, self.ended = success, ended
        self._set_finished()

    def _write(self, line: Written) -> None:
        text = line.text[: self._room]
        if not text:
            return
        self._room -= len(text)
        if line.type == "text" and self._last is not None:
            self._last.pieces.append(text)
        else:
            passage = Passage(is_error=line.type == "error", pieces=[text])
            self._append(passage)
            self._last = passage if line.type == "text" else None
        self._add_unread(text)

    def _show(self, line: Shown) -> None:
        at = self._keys.get(line.key) if line.key else None
        before = self._said.get(at) if at is not None else None
        if isinstance(before, Shown):
            self._room += len(before.text)
            self._pictures_room += len(before.picture or "")
        text = line.text[: self._room]
        self._room -= len(text)
        picture = line.picture
        if picture is not None and len(picture) > self._pictures_room:
            picture = None
        self._pictures_room -= len(picture or "")
        shown = line.model_copy(update={"text": text, "picture": picture})
        if at is not None and before is not None:
            self._said[at] = shown
            return
        if line.is_update:
            return
        if line.key:
            self._keys[line.key] = self._next
        self._append(shown)
        self._last = None
        self._add_unread(f"{text}\n" if text else "")

    def _append(self, one: Passage | Shown) -> None:
        if len(self._said) < MAX_CODE_OUTPUTS:
            self._said[self._next] = one
            self._next += 1
