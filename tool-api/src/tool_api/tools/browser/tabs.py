"""The tabs of the visible Chrome: connect when needed, follow the one in front, answer dialogs, note downloads."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tool_api.tools.browser.cdp import CdpClosedError, CdpConnection, CdpError, OnEvent, Payload, connected
from tool_api.tools.browser.dialogs import DialogAnswer, Dialogs
from tool_api.tools.browser.downloads import Download, Downloads
from tool_api.tools.browser.printing import PRINT_WINDOW, PRINTED, close_print_window
from tool_api.tools.browser.tab import Tab

logger = logging.getLogger(__name__)

CdpAddress = Callable[[float], Awaitable[str | None]]
KEPT_NOTES = 8
MOST_TABS = 20
MAX_TITLE, MAX_ADDRESS = 200, 500
LARGEST_BESIDE_BYTES = 8 * 1024 * 1024
RETRY_S = 0.1
MOST_WINDOWS = 20
OPEN_S = 1.0
"""Seconds after which a window that a page requested counts as blocked."""
CLOSE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TabLine:
    """A tab, in a list of them."""

    number: int
    title: str
    url: str
    is_shown: bool


class NoBrowserError(Exception):
    """There is no browser to drive, now or at all."""


class Tabs:
    """The tabs of one Chrome. A new connection is made after Chrome was restarted; `close` ends it."""

    def __init__(
        self, address: CdpAddress, downloads: Downloads, has_person: Callable[[], bool] = lambda: False
    ) -> None:
        """The tabs of the Chrome at `address`; `has_person` is whether a person controls the desktop."""
        self._address = address
        self._has_person = has_person
        self.downloads = downloads
        self.dialogs = Dialogs(has_person, self._add_note)
        self._numbers = itertools.count(1)
        self._stack = AsyncExitStack()
        self._connection: CdpConnection | None = None
        self._tabs: dict[str, Tab] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._notes: deque[str] = deque(maxlen=KEPT_NOTES)
        self._opening = False
        self._opened: list[Tab] = []
        self._wanted: list[tuple[float, str]] = []
        """Windows that pages requested and that are not open yet: the time, and their addresses."""
        self._print_windows: set[str] = set()
        self._is_acting = False

    def take_notes(self, shown: Tab | None = None) -> list[str]:
        """Events beside the calls since the last call: dialogs, new tabs, downloads. `shown` is the tab in front, if
        known."""
        notes = [*self._notes, *filter(None, (self._describe_opened(tab, shown) for tab in self._opened))]
        late = time.monotonic() - OPEN_S
        blocked = [url for since, url in self._wanted if since < late]
        self._wanted = [one for one in self._wanted if one[0] >= late]
        self._notes.clear()
        self._opened.clear()
        return notes + [f"The page wanted to open a window, which the browser blocked: {url}" for url in blocked]

    def _add_note(self, note: str) -> None:
        self._notes.append(note)

    def _describe_opened(self, tab: Tab, shown: Tab | None) -> str | None:
        if tab.session in self._tabs:
            if shown is None or tab is shown:
                return "A new tab was opened and is shown now."
            return f"A new tab was opened behind this one: tab {tab.number}, which browser_tab_switch shows."
        # Chrome closes the tab of a link that turns out to be a download.
        return None if self.downloads.came_from(tab.target) else "A new tab was opened, and is closed again."

    @asynccontextmanager
    async def acting(self, answer: DialogAnswer) -> AsyncGenerator[None]:
        """Run a call's work in the block; dialogs, also those that a person has left open, are answered in this way."""
        with self.dialogs.answered_by(answer):
            self._is_acting = True
            try:
                for dialog in self.dialogs.left:
                    await self._ignore_faults(self.dialogs.answer(dialog))
                for target in tuple(self._print_windows):
                    await self._ignore_faults(self._close_print_window(target))
                yield
            finally:
                self._is_acting = False

    async def current(self, timeout_s: float) -> Tab:
        """The tab in front; the newest if none reports to be. Raises `NoBrowserError`, `CdpError`."""
        connection = await self._connected(timeout_s)
        if not self._tabs:
            await self._open(connection)
        tabs = list(self._tabs.values())
        if len(tabs) == 1:
            return tabs[0]
        shown = await asyncio.gather(*(tab.is_in_front() for tab in tabs))
        for tab, is_shown in zip(reversed(tabs), reversed(shown), strict=True):
            if is_shown:
                return tab
        try:
            await self.show(tabs[-1])
        except CdpError:
            # It was closed just now, as by its page.
            if tabs[-1].session in self._tabs:
                raise
            return await self.current(timeout_s)
        return tabs[-1]

    async def list(self, timeout_s: float) -> list[TabLine]:
        """The tabs as they are now. Raises as `current`."""
        connection = await self._connected(timeout_s)
        found = await connection.send("Target.getTargets", {"filter": [{"type": "page"}]})
        infos: dict[str, Payload] = {str(info["targetId"]): info for info in found["targetInfos"]}
        tabs = list(self._tabs.values())
        shown = await asyncio.gather(*(tab.is_in_front() for tab in tabs))
        return [
            TabLine(
                number=tab.number,
                title=str(infos.get(tab.target, {}).get("title", ""))[:MAX_TITLE],
                url=str(infos.get(tab.target, {}).get("url", ""))[:MAX_ADDRESS],
                is_shown=is_shown,
            )
            for tab, is_shown in zip(tabs, shown, strict=True)
        ]

    async def find(self, number: int, timeout_s: float) -> Tab | None:
        """A tab by its number, which no other tab has before or after. Raises as `current`."""
        await self._connected(timeout_s)
        return next((tab for tab in self._tabs.values() if tab.number == number), None)

    async def open(self, timeout_s: float) -> Tab:
        """Open and show an empty tab. Raises as `current`, and `CdpError` if there are too many."""
        connection = await self._connected(timeout_s)
        if len(self._tabs) >= MOST_TABS:
            raise CdpError(f"{MOST_TABS} tabs are open, which is the most there may be. Close one first.")
        return await self._open(connection)

    async def show(self, tab: Tab) -> None:
        """Bring a tab to the front, even one whose page does not respond."""
        if self._connection is not None:
            await self._connection.send("Target.activateTarget", {"targetId": tab.target})

    async def close_tab(self, tab: Tab) -> None:
        """Close a tab whatever its page wants; Chrome would end with its last one, so an empty one is opened first."""
        if (connection := self._connection) is None:
            raise CdpClosedError("the browser is gone")
        if len(self._tabs) == 1:
            await self._open(connection)
        await self._close_target(connection, tab)

    @asynccontextmanager
    async def beside(self, tab: Tab, on_event: OnEvent) -> AsyncGenerator[tuple[CdpConnection, str]]:
        """A connection of its own to a tab, with a session there, on which a message may not be large."""
        if (address := await self._address(CLOSE_S)) is None:
            raise NoBrowserError
        async with connected(address, on_event, LARGEST_BESIDE_BYTES) as connection:
            attached = await connection.send("Target.attachToTarget", {"targetId": tab.target, "flatten": True})
            yield connection, str(attached["sessionId"])

    def cancel_download(self, guid: str) -> None:
        """Stop a download; its end is reported like any other."""
        if self._connection is not None:
            self._start(self._cancel(self._connection, guid))

    async def _cancel(self, connection: CdpConnection, guid: str) -> None:
        await connection.send("Browser.cancelDownload", {"guid": guid})

    async def replace(self, tab: Tab) -> Tab:
        """A new, empty tab in place of one that does not respond."""
        connection = await self._connected(CLOSE_S)
        fresh = await self._open(connection)
        self._start(self._close_target(connection, tab))
        self._notes.append("The previous page stopped responding; its tab was closed.")
        return fresh

    async def close(self) -> None:
        """End the connection; the browser stays as it is."""
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        self._connection = None
        self._tabs.clear()
        self._print_windows.clear()
        self.dialogs.forget_all()
        await self._stack.aclose()

    async def _connected(self, timeout_s: float) -> CdpConnection:
        if self._connection is not None and await self._answers(self._connection):
            return self._connection
        await self.close()
        connection = await self._connect(timeout_s)
        await connection.send(
            "Browser.setDownloadBehavior",
            {"behavior": "allowAndName", "downloadPath": self.downloads.incoming, "eventsEnabled": True},
        )
        for outcome in await self.downloads.forget():
            self._add_note(outcome)
        await self._attach_all(connection)
        await connection.send("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
        return connection

    async def _answers(self, connection: CdpConnection) -> bool:
        try:
            await connection.send("Browser.getVersion", timeout_s=2)
        except (CdpError, TimeoutError):
            return False
        return True

    async def _connect(self, timeout_s: float) -> CdpConnection:
        deadline = time.monotonic() + timeout_s
        while (left := deadline - time.monotonic()) > 0 and (address := await self._address(left)) is not None:
            stack = AsyncExitStack()
            try:
                connection = await stack.enter_async_context(connected(address, self._on_event))
            except CdpClosedError:
                # Chrome has just died, and its end has not been noticed yet.
                await asyncio.sleep(RETRY_S)
                continue
            self._stack, self._connection = stack, connection
            return connection
        raise NoBrowserError

    async def _attach_all(self, connection: CdpConnection) -> None:
        # Answers only after the tabs that are open have been announced.
        await connection.send(
            "Target.setAutoAttach",
            {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": [{"type": "page"}]},
        )
        await asyncio.gather(*self._work, return_exceptions=True)
        if not self._tabs:
            await self._open(connection)

    async def _close_target(self, connection: CdpConnection, tab: Tab) -> None:
        self._tabs.pop(tab.session, None)
        await connection.send("Target.closeTarget", {"targetId": tab.target}, timeout_s=CLOSE_S)

    async def _open(self, connection: CdpConnection) -> Tab:
        self._opening = True
        try:
            made = await connection.send("Target.createTarget", {"url": "about:blank"})
            await asyncio.gather(*self._work, return_exceptions=True)
        finally:
            self._opening = False
        for tab in self._tabs.values():
            if tab.target == made.get("targetId"):
                return tab
        raise CdpClosedError("the browser has no tab")

    def _on_event(self, method: str, parameters: Payload, session: str | None) -> None:
        if method == "Target.attachedToTarget":
            self._on_attached(parameters)
        elif method == "Target.detachedFromTarget":
            if (gone := self._tabs.pop(str(parameters.get("sessionId")), None)) is not None:
                self.dialogs.forget(gone)
        elif method in ("Target.targetCreated", "Target.targetInfoChanged"):
            self._on_target(parameters)
        elif method == "Target.targetDestroyed":
            self._print_windows.discard(str(parameters.get("targetId")))
        elif method == "Browser.downloadWillBegin":
            if self.downloads.begin(parameters) is None:
                self._notes.append("A page began more downloads at once than it may; some were stopped.")
                self.cancel_download(str(parameters.get("guid")))
        elif method == "Browser.downloadProgress":
            self._progress(parameters)
        elif session is not None and (tab := self._tabs.get(session)) is not None:
            if method == "Page.javascriptDialogOpening":
                if (dialog := self.dialogs.opened(tab, parameters)) is not None:
                    self._start(self.dialogs.answer(dialog))
            elif method == "Page.javascriptDialogClosed":
                self.dialogs.closed(tab, parameters)
            elif method == "Page.windowOpen":
                if len(self._wanted) < MOST_WINDOWS:
                    self._wanted.append((time.monotonic(), str(parameters.get("url"))[:MAX_ADDRESS]))
            else:
                tab.on_event(method, parameters)

    def _on_attached(self, parameters: Payload) -> None:
        info: dict[str, Any] = parameters["targetInfo"]
        if info.get("type") != "page" or str(info.get("targetId")) in self._print_windows:
            return
        connection = self._connection
        if connection is None:
            return
        target = str(info["targetId"])
        if self._wanted and info.get("openerId"):
            self._wanted.pop(0)
        if len(self._tabs) >= MOST_TABS and not self._opening:
            self._notes.append(f"A page opened more tabs than the {MOST_TABS} there may be; they were closed.")
            unwanted = Tab(connection, str(parameters["sessionId"]), target, 0)
            self._start(self._close_unwanted(connection, unwanted))
            return
        tab = Tab(connection, str(parameters["sessionId"]), target, next(self._numbers))
        if self._tabs and not self._opening and len(self._opened) < MOST_WINDOWS:
            self._opened.append(tab)
        self._tabs[tab.session] = tab
        self._start(tab.prepare())

    async def _close_unwanted(self, connection: CdpConnection, tab: Tab) -> None:
        # While it stands still it can't be closed, and holds the page that opened it.
        await tab.prepare()
        await self._close_target(connection, tab)

    def _on_target(self, parameters: Payload) -> None:
        info: dict[str, Any] = parameters["targetInfo"]
        target = str(info.get("targetId"))
        if str(info.get("url")).startswith(PRINT_WINDOW) and target not in self._print_windows:
            self._print_windows.add(target)
            # A window that a person has opened is theirs until a call needs the page.
            if self._is_acting or not self._has_person():
                self._start(self._close_print_window(target))

    async def _close_print_window(self, target: str) -> None:
        if self._connection is not None:
            self._add_note(PRINTED)
            await close_print_window(self._connection, target, lambda: target not in self._print_windows)

    def _progress(self, parameters: Payload) -> None:
        if (ending := self.downloads.progress(parameters)) is not None:
            self._start(self._note_outcome(ending))
        elif (download := self.downloads.find(str(parameters.get("guid")))) is not None:
            self._start(self._bounded(download))

    async def _note_outcome(self, ending: Coroutine[Any, Any, str | None]) -> None:
        if (outcome := await ending) is not None:
            self._notes.append(outcome)

    async def _bounded(self, download: Download) -> None:
        if self._connection is not None and await self.downloads.refuses(download):
            await self._cancel(self._connection, download.guid)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._ignore_faults(work))
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _ignore_faults(self, work: Coroutine[Any, Any, None]) -> None:
        # The tab may be gone before it was looked at.
        try:
            await work
        except (CdpError, TimeoutError) as error:
            logger.info("tab did not answer", extra={"reason": str(error)})
