"""The tabs of the visible Chrome: connect when needed, follow the one in front, answer dialogs, note downloads."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tool_api.tools.browser.cdp import CdpClosedError, CdpConnection, CdpError, Payload, connected
from tool_api.tools.browser.tab import Tab

logger = logging.getLogger(__name__)

CdpAddress = Callable[[float], Awaitable[str | None]]
KEPT_NOTES = 8
RETRY_S = 0.1
CLOSE_S = 5.0


class NoBrowserError(Exception):
    """There is no browser to drive, now or at all."""


class Tabs:
    """The tabs of one Chrome. A new connection is made when Chrome was started anew; `close` ends it."""

    def __init__(self, address: CdpAddress, downloads: Path) -> None:
        self._address = address
        self._downloads = downloads
        self._stack = AsyncExitStack()
        self._connection: CdpConnection | None = None
        self._tabs: dict[str, Tab] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._notes: deque[str] = deque(maxlen=KEPT_NOTES)
        self._opening = False
        self._downloading: dict[str, str] = {}

    def take_notes(self) -> list[str]:
        """What happened beside the calls since it was last asked: dialogs, new tabs, downloads."""
        notes = list(self._notes)
        self._notes.clear()
        return notes

    async def current(self, timeout_s: float) -> Tab:
        """The tab in front; the newest where none says it is. Raises `NoBrowserError`, `CdpError`."""
        connection = await self._connected(timeout_s)
        if not self._tabs:
            await self._open(connection)
        tabs = list(self._tabs.values())
        for tab in reversed(tabs):
            if len(tabs) == 1 or await tab.is_in_front():
                return tab
        await tabs[-1].send("Page.bringToFront")
        return tabs[-1]

    async def replace(self, tab: Tab) -> Tab:
        """A new, empty tab in place of one that does not respond."""
        connection = await self._connected(CLOSE_S)
        await self._open(connection)
        fresh = list(self._tabs.values())[-1]
        self._start(self._close_tab(connection, tab))
        self._notes.append("The previous page stopped responding; its tab was closed.")
        return fresh

    async def close(self) -> None:
        """End the connection; the browser stays as it is."""
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        self._connection = None
        self._tabs.clear()
        await self._stack.aclose()

    async def _connected(self, timeout_s: float) -> CdpConnection:
        if self._connection is not None and await self._lives(self._connection):
            return self._connection
        await self.close()
        connection = await self._connect(timeout_s)
        await connection.send(
            "Browser.setDownloadBehavior",
            {"behavior": "allow", "downloadPath": str(self._downloads), "eventsEnabled": True},
        )
        await self._attach_all(connection)
        return connection

    async def _lives(self, connection: CdpConnection) -> bool:
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
            {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True, "filter": [{"type": "page"}]},
        )
        await asyncio.gather(*self._work, return_exceptions=True)
        if not self._tabs:
            await self._open(connection)

    async def _close_tab(self, connection: CdpConnection, tab: Tab) -> None:
        self._tabs.pop(tab.session, None)
        await connection.send("Target.closeTarget", {"targetId": tab.target}, timeout_s=CLOSE_S)

    async def _open(self, connection: CdpConnection) -> None:
        self._opening = True
        try:
            await connection.send("Target.createTarget", {"url": "about:blank"})
            await asyncio.gather(*self._work, return_exceptions=True)
        finally:
            self._opening = False
        if not self._tabs:
            raise CdpClosedError("the browser has no tab")

    def _on_event(self, method: str, parameters: Payload, session: str | None) -> None:
        if method == "Target.attachedToTarget":
            self._attached(parameters)
        elif method == "Target.detachedFromTarget":
            self._tabs.pop(str(parameters.get("sessionId")), None)
        elif method == "Browser.downloadWillBegin":
            self._downloading[str(parameters["guid"])] = str(parameters.get("suggestedFilename", "file"))
        elif method == "Browser.downloadProgress":
            self._progress(parameters)
        elif session is not None and (tab := self._tabs.get(session)) is not None:
            if method == "Page.javascriptDialogOpening":
                self._dialog(tab, parameters)
            else:
                tab.on_event(method, parameters)

    def _attached(self, parameters: Payload) -> None:
        info: dict[str, Any] = parameters["targetInfo"]
        if info.get("type") != "page" or (self._connection is None and not self._stack):
            return
        connection = self._connection
        if connection is None:
            return
        tab = Tab(connection, str(parameters["sessionId"]), str(info["targetId"]))
        if self._tabs and not self._opening:
            self._notes.append("A new tab was opened and is shown now.")
        self._tabs[tab.session] = tab
        self._start(tab.prepare())

    def _dialog(self, tab: Tab, parameters: Payload) -> None:
        kind = str(parameters.get("type", "dialog"))
        accept = kind in ("alert", "beforeunload")
        answer = "accepted" if accept else "dismissed"
        self._notes.append(
            f"The page showed a {kind} dialog, which was {answer}: {str(parameters.get('message'))[:300]}"
        )
        self._start(tab.answer_dialog(accept=accept))

    def _progress(self, parameters: Payload) -> None:
        state = parameters.get("state")
        if state in ("completed", "canceled"):
            name = self._downloading.pop(str(parameters["guid"]), "file")
            path = parameters.get("filePath") or self._downloads / name
            self._notes.append(
                f"Downloaded {path}." if state == "completed" else f"The download of {name} was canceled."
            )

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._quietly(work))
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _quietly(self, work: Coroutine[Any, Any, None]) -> None:
        # The tab may be gone before it was looked at.
        try:
            await work
        except (CdpError, TimeoutError) as error:
            logger.info("tab did not answer", extra={"reason": str(error)})
