"""Prints a page as PDF with a browser of its own, which nobody sees: the visible one belongs to the session's work."""

from __future__ import annotations

import asyncio
import base64
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tool_api.desktop import programs
from tool_api.desktop.drawer import draw
from tool_api.desktop.process import DesktopProgram, StartFailedError, running
from tool_api.desktop.settings import DesktopSettings
from tool_api.tools.browser.cdp import CdpClosedError, CdpConnection, CdpError, Payload, connected
from tool_api.tools.documents.controller import NotMadeError
from tool_api.tools.documents.drawings import Drawings

_OPEN_S = 20.0
"""Time limit for the browser to start while the session's other programs use the processors."""
_LONGEST_S = 3600.0
"""Time limit of one step; the caller's own limit is shorter."""
_ADDRESS = "http://document.invalid/"
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    # Each barrier is enough by itself: no scripts here, no loading here, and requests are not answered either.
    "Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'",
    "Referrer-Policy": "no-referrer",
}
_PAPER = {
    "printBackground": True,
    "preferCSSPageSize": True,
    "generateTaggedPDF": True,
    "generateDocumentOutline": True,
}
"""Print options; the page itself sets the paper size."""


class HeadlessPrinter:
    """Prints one page at a time; each starts a browser, which costs 2 to 3 seconds and 250 MB meanwhile."""

    def __init__(self, settings: DesktopSettings) -> None:
        self._settings = settings
        self._path = programs.find_programs(settings.search_path).browser
        self._turn = asyncio.Lock()
        self.control_address: str | None = None
        """Control address of the browser that prints now."""

    async def print_page(self, make_page: Callable[[], str], drawings: Drawings, within_s: float) -> bytes:
        """A PDF of the page that is made once all is drawn. Cancelling ends the browser. Raises `NotMadeError`."""
        if self._path is None:
            raise NotMadeError("This sandbox has no browser to print PDFs with. Save it as Markdown.")
        try:
            async with asyncio.timeout(within_s), self._turn:
                return await self._printed(self._path, make_page, drawings)
        except TimeoutError as error:
            raise NotMadeError(
                "Printing took too long. Shorten the text, or split it into several documents."
            ) from error
        except (StartFailedError, CdpError) as error:
            raise NotMadeError(f"The browser could not print it: {error}") from error

    async def _printed(self, path: str, make_page: Callable[[], str], drawings: Drawings) -> bytes:
        profile = self._profile()
        try:
            command = programs.printing_command(path, profile)
            async with running("printer", command, programs.environment(self._settings), self._settings) as program:
                address = await program.said(programs.cdp_address, self._settings.start_timeout_s)
                self.control_address = address
                conversation = _Conversation()
                async with connected(address, conversation.on_event, open_timeout_s=_OPEN_S) as connection:
                    if drawings.wanted:
                        drawings.drawn = await draw(connection, drawings.wanted)
                    return await conversation.print_by(connection, program, await asyncio.to_thread(make_page))
        finally:
            self.control_address = None
            await asyncio.to_thread(shutil.rmtree, profile, ignore_errors=True)

    def _profile(self) -> Path:
        profile = Path(tempfile.mkdtemp(prefix="printer-"))
        if self._settings.user is not None:
            shutil.chown(profile, self._settings.user, self._settings.user)
        return profile


class _Conversation:
    """The control session with one browser about one page: the page's own request is answered with its content, and
    every other one fails."""

    def __init__(self) -> None:
        self._page = ""
        self._requests: asyncio.Queue[Payload] = asyncio.Queue()
        self._loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_event(self, method: str, parameters: Payload, session: str | None) -> None:
        del session
        if method == "Fetch.requestPaused":
            self._requests.put_nowait(parameters)
        elif method == "Page.loadEventFired" and not self._loaded.done():
            self._loaded.set_result(None)
        elif method == "Inspector.targetCrashed" and not self._loaded.done():
            self._loaded.set_exception(CdpClosedError("it ran out of memory or crashed"))

    async def print_by(self, connection: CdpConnection, program: DesktopProgram, page: str) -> bytes:
        self._page = page
        target = await connection.send("Target.createTarget", {"url": "about:blank"})
        attached = await connection.send("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        session = str(attached["sessionId"])
        for domain in ("Page", "Inspector"):
            await connection.send(f"{domain}.enable", session=session)
        await connection.send("Emulation.setScriptExecutionDisabled", {"value": True}, session=session)
        await connection.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, session=session)
        answering = asyncio.create_task(self._answer(connection, session), name="requests of the printed page")
        try:
            await connection.send("Page.navigate", {"url": _ADDRESS}, session=session, timeout_s=_LONGEST_S)
            await program.before_end(self._loaded, _LONGEST_S)
            printed = await connection.send("Page.printToPDF", _PAPER, session=session, timeout_s=_LONGEST_S)
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
        return base64.b64decode(str(printed["data"]))

    async def _answer(self, connection: CdpConnection, session: str) -> None:
        is_answered = False
        while True:
            asked = await self._requests.get()
            request: dict[str, Any] = {"requestId": asked["requestId"]}
            if not is_answered and asked["request"]["url"] == _ADDRESS:
                is_answered = True
                headers = [{"name": name, "value": value} for name, value in _HEADERS.items()]
                body = base64.b64encode(self._page.encode("utf-8", "replace")).decode()
                answer = request | {"responseCode": 200, "responseHeaders": headers, "body": body}
                await connection.send("Fetch.fulfillRequest", answer, session=session, timeout_s=60)
            else:
                failure = request | {"errorReason": "BlockedByClient"}
                await connection.send("Fetch.failRequest", failure, session=session)
