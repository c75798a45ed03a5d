"""One tab of Chrome: its session, its load state, and a small script of ours in an isolated world of its page."""

from __future__ import annotations

import asyncio
import base64
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tool_api.tools.browser.cdp import CdpConnection, CdpError, Payload

SCRIPT = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
WORLD = "sandbox-view"
PREPARE_S = 3.0
LARGEST_PICTURE_BYTES = 150 * 1024
PICTURES: tuple[tuple[int, float], ...] = ((70, 1.0), (45, 1.0), (25, 1.0), (40, 0.5))


class StaleViewError(Exception):
    """The page is another one than when it was last viewed; its element numbers mean nothing now."""


@dataclass(frozen=True, slots=True)
class _World:
    """An isolated world of the page. Its number may be that of another context after the page has moved to another
    process; the name of our script in it is never used twice."""

    number: int
    view: str


class Tab:
    """Made by `Tabs` when Chrome announces a page."""

    def __init__(self, connection: CdpConnection, session: str, target: str, number: int) -> None:
        self.session = session
        self.number = number
        self._chooser: asyncio.Future[int] | None = None
        self._paused: asyncio.Queue[Payload] | None = None
        self.target = target
        self._frame = target
        self._connection = connection
        self._world: _World | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._loading_frames: set[str] = set()
        self._frames_idle = asyncio.Event()

    async def send(self, method: str, parameters: Payload | None = None, *, timeout_s: float = 10.0) -> Payload:
        """A command to this tab; raises as `CdpConnection.send`."""
        return await self._connection.send(method, parameters, session=self.session, timeout_s=timeout_s)

    async def prepare(self) -> None:
        """Ask for the page's events before its scripts run: a dialog shown earlier would hold it for ever."""
        try:
            await self.send("Page.enable", timeout_s=PREPARE_S)
        finally:
            await self.send("Runtime.runIfWaitingForDebugger", timeout_s=PREPARE_S)

    @asynccontextmanager
    async def file_choosers(self) -> AsyncGenerator[asyncio.Future[int]]:
        """The number of the field that opens a file chooser, in place of a dialog of the desktop that no tool could
        use."""
        chooser = self._chooser = asyncio.get_running_loop().create_future()
        await self.send("Page.setInterceptFileChooserDialog", {"enabled": True})
        try:
            yield chooser
        finally:
            self._chooser = None
            with suppress(CdpError, TimeoutError):
                await self.send("Page.setInterceptFileChooserDialog", {"enabled": False}, timeout_s=2)

    async def answer_dialog(self, *, accept: bool, text: str | None = None) -> None:
        """Close the dialog that holds the page."""
        answer: Payload = {"accept": accept} | ({"promptText": text} if text is not None else {})
        await self.send("Page.handleJavaScriptDialog", answer)

    @asynccontextmanager
    async def paused_responses(self) -> AsyncGenerator[asyncio.Queue[Payload]]:
        """Responses to the tab's navigations, each held until the caller decides on it."""
        paused = self._paused = asyncio.Queue()
        pattern = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}
        await self.send("Fetch.enable", {"patterns": [pattern]})
        try:
            yield paused
        finally:
            self._paused = None
            with suppress(CdpError, TimeoutError):
                await self.send("Fetch.disable", timeout_s=2)

    def on_event(self, method: str, parameters: Payload) -> None:
        """Follow the page's load state, and its dialogs and file choosers."""
        if method == "Page.fileChooserOpened":
            number = parameters.get("backendNodeId")
            if self._chooser is not None and not self._chooser.done() and isinstance(number, int):
                self._chooser.set_result(number)
            return
        if method == "Fetch.requestPaused":
            if self._paused is not None:
                self._paused.put_nowait(parameters)
            return
        is_leaving = method == "Page.frameStartedNavigating" and parameters.get("navigationType") == "differentDocument"
        frame = parameters.get("frameId")
        if frame != self._frame:
            if method == "Page.frameStartedLoading" or is_leaving:
                self._loading_frames.add(str(frame))
            elif method in ("Page.frameStoppedLoading", "Page.frameDetached"):
                self._loading_frames.discard(str(frame))
            if not self._loading_frames:
                self._frames_idle.set()
            return
        if method == "Page.frameStartedLoading" or is_leaving:
            self._idle.clear()
        elif method == "Page.frameStoppedLoading":
            self._idle.set()

    async def is_in_front(self) -> bool:
        """Whether the window shows this tab."""
        return await self._visibility() == "visible"

    async def responds(self) -> bool:
        """Whether the page answers at all; one in an endless computation does not."""
        return await self._visibility() is not None

    async def _visibility(self) -> str | None:
        try:
            answer = await self.send(
                "Runtime.evaluate", {"expression": "document.visibilityState", "returnByValue": True}, timeout_s=1
            )
        except (CdpError, TimeoutError):
            return None
        return str(answer.get("result", {}).get("value"))

    async def call(self, expression: str, *, timeout_s: float = 5.0) -> Any:
        """A call of our script in the world the latest view was made in. Raises `StaleViewError`, `CdpError`."""
        if self._world is None:
            raise StaleViewError
        return await self._view(self._world, expression, timeout_s)

    async def call_in_new_context(self, expression: str, *, timeout_s: float = 5.0) -> Any:
        """A call of our script, in a new world if the old one has gone with its page."""
        if self._world is not None:
            try:
                return await self._view(self._world, expression, timeout_s)
            except StaleViewError:
                self._world = None
        self._frame = str((await self.send("Page.getFrameTree"))["frameTree"]["frame"]["id"])
        made = await self.send(
            "Page.createIsolatedWorld", {"frameId": self._frame, "worldName": WORLD, "grantUniveralAccess": True}
        )
        world = _World(int(made["executionContextId"]), f"view_{secrets.token_hex(8)}")
        await self._run(world, f"void (globalThis.{world.view} = {SCRIPT})", timeout_s)
        self._world = world
        return await self._view(world, expression, timeout_s)

    async def handle_of(self, index: int) -> str | None:
        """Chrome's own handle of an element of the latest view. Raises as `call`."""
        if self._world is None:
            raise StaleViewError
        answer = await self._run(self._world, f"{self._world.view}.element({index})", 5.0, by_value=False)
        return answer.get("objectId")

    async def settle(self, limit_s: float) -> bool:
        """Wait until the page has loaded and stands still; False when the time was over first."""
        deadline = time.monotonic() + limit_s
        while (left := deadline - time.monotonic()) > 0:
            try:
                async with asyncio.timeout(left):
                    await self._idle.wait()
                state = await self.call_in_new_context(f"settled({int(left * 1000)})", timeout_s=left + 1)
            except (StaleViewError, TimeoutError):
                continue
            if self._idle.is_set() and state == "complete":
                return True
        return False

    def forget_frames(self) -> None:
        """Forget frames that are loading, so that only later loads are waited for."""
        self._loading_frames.clear()

    async def rest_frames(self, limit_s: float) -> None:
        """Wait until the frames have loaded, as far as they began to."""
        if not self._loading_frames:
            return
        self._frames_idle.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._frames_idle.wait()

    async def screenshot(self) -> str | None:
        """A JPEG of the visible part as base64, at most `LARGEST_PICTURE_BYTES`; None if the page gives none."""
        for quality, scale in PICTURES:
            parameters: Payload = {"format": "jpeg", "quality": quality, "optimizeForSpeed": True}
            try:
                if scale != 1.0:
                    view = (await self.send("Page.getLayoutMetrics"))["cssVisualViewport"]
                    parameters["clip"] = {
                        "x": view["pageX"],
                        "y": view["pageY"],
                        "width": view["clientWidth"],
                        "height": view["clientHeight"],
                        "scale": scale,
                    }
                image = str((await self.send("Page.captureScreenshot", parameters, timeout_s=5))["data"])
            except (CdpError, TimeoutError):
                return None
            if len(base64.b64decode(image)) <= LARGEST_PICTURE_BYTES:
                return image
        return None

    async def _view(self, world: _World, expression: str, timeout_s: float) -> Any:
        return (await self._run(world, f"{world.view}.{expression}", timeout_s)).get("value")

    async def _run(self, world: _World, expression: str, timeout_s: float, *, by_value: bool = True) -> Payload:
        try:
            answer = await self.send(
                "Runtime.evaluate",
                {"expression": expression, "contextId": world.number, "returnByValue": by_value, "awaitPromise": True},
                timeout_s=timeout_s,
            )
        except CdpError as error:
            if "context" in str(error).lower() or "navigated" in str(error).lower():
                raise StaleViewError from error
            raise
        if (failure := answer.get("exceptionDetails")) is not None:
            reason = str(failure.get("exception", {}).get("description", failure.get("text")))
            if f"{world.view} is not defined" in reason:
                raise StaleViewError
            raise CdpError(reason[:300])
        return cast("Payload", answer.get("result", {}))
