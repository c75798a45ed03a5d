"""Files from the workspace into a page, and from a page into the workspace."""

from __future__ import annotations

import asyncio
import stat
from contextlib import suppress
from typing import Any

from contracts.tools import FileDisplay, ToolResult
from tool_api.errors import PathForbiddenError
from tool_api.tools.browser import types
from tool_api.tools.browser.addresses import address_of, why_unreachable
from tool_api.tools.browser.cdp import CdpError, Payload
from tool_api.tools.browser.downloads import Download
from tool_api.tools.browser.driver import BrowserDriver, RefusedError
from tool_api.tools.browser.tab import StaleViewError, Tab
from tool_api.tools.tool import CallContext, done, failed
from tool_api.workspace import Workspace

CHOOSER_S = 5.0
BEGIN_S = 15.0
ANSWER_S = 30.0
SPARE_S = 5.0
_KEPT_HEADERS = frozenset({"content-type", "content-length", "content-encoding"})


class FileTransferController:
    """Gives a page the files meant for it, and saves downloads, under names of ours."""

    def __init__(self, driver: BrowserDriver, workspace: Workspace) -> None:
        self._driver = driver
        self._workspace = workspace

    async def upload(self, context: CallContext, arguments: types.BrowserUpload) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            files = [await asyncio.to_thread(self._file, path) for path in arguments.paths]
            field = await tab.call(f"fileField({arguments.index})")
            if field is None:
                raise RefusedError(f"There is no element [{arguments.index}] any more. View the page again.")
            names = ", ".join(arguments.paths)[:500]
            if field:
                handle = await tab.handle_of(arguments.index)
                await tab.send("DOM.setFileInputFiles", {"files": files, "objectId": handle})
                said = f"Gave {names} to [{arguments.index}]."
                with suppress(CdpError, StaleViewError, TimeoutError):
                    # A page may have taken them, and emptied the field, or sent itself.
                    has = len(await tab.call(f"filesOf({arguments.index})"))
                    if has != len(files):
                        said = f"{said} The field has {has} files now, and not {len(files)}."
                return await self._driver.after(tab, "upload", said)
            async with tab.file_choosers() as chooser:
                x, y, what = await self._driver.target(tab, arguments.index, None, None)
                await self._driver.press(tab, x, y)
                await asyncio.wait([chooser], timeout=CHOOSER_S)
            if not chooser.done():
                raise RefusedError(f"{what} was clicked, but it does not ask for a file.")
            await tab.send("DOM.setFileInputFiles", {"files": files, "backendNodeId": chooser.result()})
            return await self._driver.after(tab, "upload", f"Gave {names} to the page by {what}.")

        return await self._driver.act(context, act)

    async def download(self, context: CallContext, arguments: types.BrowserDownload) -> ToolResult:
        async def act(tab: Tab) -> ToolResult:
            with self._driver.tabs.downloads.expected() as expected:
                url = arguments.url
                if arguments.index is not None:
                    await self._driver.locate(tab, arguments.index)
                    url = await tab.call(f"linkOf({arguments.index})")
                if url is not None:
                    tab = await self._fetch(tab, address_of(str(url)), context)
                elif arguments.index is not None:
                    x, y, _ = await self._driver.target(tab, arguments.index, None, None)
                    await self._driver.press(tab, x, y)
                await asyncio.wait([expected], timeout=max(1.0, min(BEGIN_S, context.remaining_s - SPARE_S)))
                if not expected.done():
                    raise RefusedError("No download began.")
                return await self._finished(expected.result(), context)

        return await self._driver.act(context, act)

    async def _finished(self, download: Download, context: CallContext) -> ToolResult:
        """Wait for the download to end; cancel it if the call ends first."""
        try:
            async with asyncio.timeout(max(1.0, context.remaining_s - SPARE_S)):
                await download.ended.wait()
        except TimeoutError:
            return failed(f"{download.name} was not downloaded in time; the download was stopped.")
        finally:
            if not download.ended.is_set():
                self._driver.tabs.cancel_download(download.guid)
        if download.path is None:
            return failed(download.outcome)
        notes = [note for note in self._driver.tabs.take_notes() if note != download.outcome]
        display = FileDisplay(path=download.path, operation="write", size=download.size)
        paths = self._driver.tabs.downloads.take_paths()
        return done("\n".join([download.outcome, *notes]), display=display, changed_paths=paths)

    async def _fetch(self, tab: Tab, url: str, context: CallContext) -> Tab:
        """Make the browser download the address, whatever kind of page it is; the tab keeps its page."""
        if not await tab.responds():
            tab = await self._driver.tabs.replace(tab)
        limit = max(1.0, min(ANSWER_S, context.remaining_s - SPARE_S))
        async with tab.paused_responses() as paused:
            answering = asyncio.create_task(self._as_file(tab, paused))
            try:
                answer = await tab.send("Page.navigate", {"url": url}, timeout_s=limit)
            except TimeoutError:
                await tab.send("Page.stopLoading")
                raise RefusedError(f"{url} did not answer within {limit:.0f} s.") from None
            finally:
                answering.cancel()
                outcome = (await asyncio.gather(answering, return_exceptions=True))[0]
        if isinstance(outcome, RefusedError):
            raise outcome
        if (error := answer.get("errorText")) and not answer.get("isDownload"):
            raise RefusedError(why_unreachable(url, str(error)))
        return tab

    async def _as_file(self, tab: Tab, paused: asyncio.Queue[Payload]) -> None:
        while True:
            event = await paused.get()
            status = int(event.get("responseStatusCode") or 0)
            same: dict[str, Any] = {"requestId": event["requestId"]}
            if status in range(300, 400) or status == 0:
                await tab.send("Fetch.continueRequest", same)
                continue
            if status >= 400:
                with suppress(CdpError, TimeoutError):
                    await tab.send("Fetch.failRequest", {**same, "errorReason": "Aborted"})
                raise RefusedError(f"The server answered {status}; there is nothing to download.")
            headers = [one for one in event.get("responseHeaders", []) if str(one.get("name")).lower() in _KEPT_HEADERS]
            named = [one for one in event.get("responseHeaders", []) if _is_disposition(one)]
            value = str(named[0]["value"]) if named else ""
            form = value.replace("inline", "attachment", 1) if value.lower().startswith("inline") else value
            headers.append({"name": "Content-Disposition", "value": form or "attachment"})
            await tab.send("Fetch.continueResponse", {**same, "responseCode": status, "responseHeaders": headers})

    def _file(self, path: str) -> str:
        """The whole path of a regular file of the workspace. Raises `RefusedError`."""
        try:
            with self._workspace.locate(path) as place:
                if not stat.S_ISREG(place.stat().st_mode):
                    raise RefusedError(f"{path} is not a file.")
                return str(self._workspace.root / place.path)
        except PathForbiddenError as error:
            raise RefusedError(error.detail) from error
        except OSError as error:
            raise RefusedError(f"{error.strerror or error}: {path}") from error


def _is_disposition(header: Payload) -> bool:
    return str(header.get("name")).lower() == "content-disposition"
