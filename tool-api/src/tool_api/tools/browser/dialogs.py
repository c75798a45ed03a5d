"""Dialogs of pages: answered by the call that opens them, or by a default; one that no call has opened is left to a
person who controls the desktop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tool_api.tools.browser.cdp import Payload
from tool_api.tools.browser.tab import Tab

MAX_MESSAGE = 300
MOST_AT_ONCE = 100
_ACCEPTED_BY_DEFAULT = frozenset({"alert", "beforeunload"})
"""Dialogs accepted by default: an alert has no other answer, and whoever leaves a page means to. Confirmations are
dismissed, as nobody chose to confirm."""


@dataclass(frozen=True, slots=True)
class DialogAnswer:
    """A call's answer to dialogs; None leaves it to the default. `text` is for those that ask for one."""

    accept: bool | None = None
    text: str | None = None


BY_DEFAULT = DialogAnswer()


@dataclass(slots=True)
class Dialog:
    """An open dialog."""

    tab: Tab
    kind: str
    message: str
    suggested: str
    is_ours: bool = False
    """Whether we answer it."""
    is_chosen: bool = False
    """Whether the call chose the answer."""
    closed: asyncio.Event = field(default_factory=asyncio.Event)


class Dialogs:
    """The open dialogs. `has_person` is whether a person controls the desktop; `note` keeps a remark for the next
    result."""

    def __init__(self, has_person: Callable[[], bool], note: Callable[[str], None]) -> None:
        self._has_person = has_person
        self._note = note
        self._answer: DialogAnswer | None = None
        self._open: dict[str, Dialog] = {}

    @contextmanager
    def answered_by(self, answer: DialogAnswer) -> Generator[None]:
        """Answer dialogs that open in the block in this way."""
        self._answer = answer
        try:
            yield
        finally:
            self._answer = None

    @property
    def left(self) -> list[Dialog]:
        """The dialogs that were left to a person and are still open."""
        return [one for one in self._open.values() if not one.is_ours]

    def opened(self, tab: Tab, parameters: Payload) -> Dialog | None:
        """Record a dialog that a page opened; returns it if we are to answer it."""
        message, suggested = (str(parameters.get(name) or "")[:MAX_MESSAGE] for name in ("message", "defaultPrompt"))
        dialog = Dialog(tab, str(parameters.get("type", "dialog"))[:20], message, suggested)
        if len(self._open) < MOST_AT_ONCE:
            self._open[tab.session] = dialog
        dialog.is_ours = self._answer is not None or not self._has_person()
        return dialog if dialog.is_ours else None

    async def answer(self, dialog: Dialog) -> None:
        """Close it; raises as `Tab.send`."""
        chosen = self._answer or BY_DEFAULT
        accept = chosen.accept
        if accept is None and dialog.kind == "prompt" and chosen.text is not None:
            accept = True
        dialog.is_ours, dialog.is_chosen = True, accept is not None
        if accept is None:
            accept = dialog.kind in _ACCEPTED_BY_DEFAULT
        text = chosen.text if chosen.text is not None else dialog.suggested
        await dialog.tab.answer_dialog(accept=accept, text=text if dialog.kind == "prompt" else None)

    async def wait_closed(self, within_s: float) -> None:
        """Wait until the dialogs that we answer are closed and noted."""
        ends = [one.closed.wait() for one in self._open.values() if one.is_ours]
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await asyncio.gather(*ends)

    def closed(self, tab: Tab, parameters: Payload) -> None:
        """Record that a dialog is closed, whoever answered it."""
        if (dialog := self._open.pop(tab.session, None)) is not None:
            dialog.closed.set()
            self._note(_describe(dialog, bool(parameters.get("result")), str(parameters.get("userInput") or "")))

    def forget(self, tab: Tab) -> None:
        """Forget the dialog of a tab that is gone."""
        if (dialog := self._open.pop(tab.session, None)) is not None:
            dialog.closed.set()

    def forget_all(self) -> None:
        """Forget all dialogs: all tabs are gone."""
        for dialog in self._open.values():
            dialog.closed.set()
        self._open.clear()


def _describe(dialog: Dialog, was_accepted: bool, text: str) -> str:
    answer = "accepted" if was_accepted else "dismissed"
    by = "was" if dialog.is_ours else "a person"
    said = f" with the text {text[:MAX_MESSAGE]!r}" if dialog.kind == "prompt" and was_accepted else ""
    note = f"The page showed a {dialog.kind} dialog, which {by} {answer}{said}: {dialog.message or '(no text)'}"
    if not dialog.is_ours or dialog.is_chosen or dialog.kind not in ("confirm", "prompt"):
        return note
    otherwise = "dialog=accept" if dialog.kind == "confirm" else "prompt_text"
    return f"{note}\nThat is the default answer. Do it again with {otherwise} if it is to be accepted."
