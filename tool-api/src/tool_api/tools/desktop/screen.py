"""The screen as all desktop tools see it: its display, one call that uses it at a time, and a picture of it then."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from contracts.tools import DesktopDisplay, ToolResult
from tool_api.desktop_turn import DesktopTurn
from tool_api.tools.desktop.clipboard import ClipboardError
from tool_api.tools.desktop.keys import UnknownKeyError
from tool_api.tools.desktop.programs import ScreenError, capture, xdotool
from tool_api.tools.desktop.scale import Scale
from tool_api.tools.tool import CallContext, done, failed
from tool_api.viewer_control import ViewerControl

NO_DESKTOP = "This sandbox has no desktop, or it can't be started."
TAKEN = (
    "A person has taken control of the desktop, so mouse and keyboard are theirs until they hand it back. You can "
    "still look at it. Tell them what you need, or go on with other tools."
)
LARGEST_SIDE = 8192
START_S = 10.0
SETTLE_S = 0.6
_RESERVE_S = 8.0
_PLACE = re.compile(r"x:(-?\d{1,6}) y:(-?\d{1,6})")


class Display(Protocol):
    """The desktop that is looked at; see `Desktop`."""

    @property
    def display(self) -> str | None: ...
    @property
    def vnc_socket(self) -> str | None: ...
    def wake(self) -> None: ...
    async def wait_settled(self, timeout_s: float) -> bool: ...


@dataclass(frozen=True, slots=True)
class ScaledDisplay:
    """The X display `name`, and how the latest picture shows it."""

    name: str
    vnc_socket: str
    scale: Scale

    def point(self, x: int, y: int) -> tuple[str, str]:
        """A point of the picture in words for xdotool. Raises `ScreenError` for one outside."""
        place = self.scale.to_screen(x, y)
        if place is None:
            wide, high = self.scale.picture
            raise ScreenError(f"({x}, {y}) is outside of the screenshot, which has {wide}x{high} pixels.")
        return str(place[0]), str(place[1])


Action = Callable[[ScaledDisplay], Awaitable[str]]


class Screen:
    """`turn` is shared with the browser's tools: one of them all uses the desktop at a time."""

    def __init__(self, desktop: Display | None, control: ViewerControl, turn: DesktopTurn) -> None:
        self._desktop, self._control, self._turn = desktop, control, turn
        self._shown: Scale | None = None

    async def look(self, action: str, said: Action, *, region: list[int] | None = None) -> ToolResult:
        """A picture of the screen, whoever has control."""
        self._turn.keep_size()
        try:
            display = await self.scaled_display()
            text = await said(display)
            return await self._observe(display.name, action, text, region)
        except ScreenError as error:
            return failed(str(error))

    async def use(self, context: CallContext, action: str, work: Action) -> ToolResult:
        """The screen after the work, which is broken off if a person takes control."""
        try:
            async with asyncio.timeout(max(1.0, context.remaining_s - _RESERVE_S)), self._turn:
                display = await self.scaled_display()
                if self._shown is not None and self._shown != display.scale:
                    self._shown = None
                    raise ScreenError("The desktop's size has changed since the latest screenshot. Take another one.")
                if self._control.is_taken:
                    return failed(TAKEN)
                said = await self._unless_controlled(work(display))
                if said is None:
                    return failed(f"It was interrupted. {TAKEN}")
                await asyncio.sleep(SETTLE_S)
            return await self._observe(display.name, action, said, None)
        except (ScreenError, UnknownKeyError) as error:
            return failed(str(error))
        except ClipboardError as error:
            return failed(f"The text could not be given to the desktop: {error}.")
        except TimeoutError:
            return failed("The desktop is in use by another call, or does not respond. Try again in a moment.")

    async def _unless_controlled(self, work: Awaitable[str]) -> str | None:
        """The result of the work, None if a person took control in the middle."""
        working, taken = asyncio.ensure_future(work), asyncio.ensure_future(self._control.wait_until_taken())
        try:
            await asyncio.wait({working, taken}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            for task in (working, taken):
                task.cancel()
            await asyncio.gather(working, taken, return_exceptions=True)

    async def scaled_display(self) -> ScaledDisplay:
        """The display, once it is there. Raises `ScreenError`."""
        desktop = self._desktop
        if desktop is None:
            raise ScreenError(NO_DESKTOP)
        desktop.wake()
        if desktop.display is None:
            await desktop.wait_settled(START_S)
        display, socket = desktop.display, desktop.vnc_socket
        if display is None or socket is None:
            raise ScreenError(NO_DESKTOP)
        return ScaledDisplay(display, socket, await self._scale(display))

    async def _scale(self, display: str) -> Scale:
        words = (await xdotool(display, "getdisplaygeometry")).split()
        sides = [int(word) for word in words if word.isascii() and word.isdigit() and len(word) < 6]
        if len(sides) != 2 or not all(0 < side <= LARGEST_SIDE for side in sides):
            raise ScreenError("The desktop has no size that can be shown.")
        return Scale(width=sides[0], height=sides[1])

    async def _observe(self, display: str, action: str, said: str, region: list[int] | None) -> ToolResult:
        whole = await self._scale(display)
        shown, area = whole, None
        if region is not None:
            area = self._area(whole, region)
            shown = Scale(width=area[2] - area[0], height=area[3] - area[1])
        image = await capture(display, area, shown.picture)
        found = _PLACE.search(await xdotool(display, "getmouselocation"))
        pointer = None if found is None else (max(0, int(found[1])), max(0, int(found[2])))
        at = None if pointer is None else whole.to_picture(*pointer)
        self._shown = whole
        wide, high = shown.picture
        lines = [said, f"The screenshot has {wide}x{high} pixels."]
        if region is None and at is not None:
            lines.append(f"The pointer is at ({at[0]}, {at[1]}).")
        if region is not None:
            lines.append("It shows a part: points are given in pixels of the whole desktop's screenshot all the same.")
        is_whole = region is None and at is not None
        view = DesktopDisplay(
            action=action,
            width=wide,
            height=high,
            pointer_x=at[0] if is_whole and at is not None else None,
            pointer_y=at[1] if is_whole and at is not None else None,
            image=base64.b64encode(image).decode(),
            image_media_type="image/jpeg",
        )
        return done("\n".join(filter(None, lines)), display=view)

    @staticmethod
    def _area(whole: Scale, region: list[int]) -> list[int]:
        wide, high = whole.picture
        left, top = region[0], region[1]
        right, bottom = min(region[2], wide), min(region[3], high)
        if left >= right or top >= bottom:
            raise ScreenError(f"The region is outside of the screenshot, which has {wide}x{high} pixels.")
        across, down = whole.width / wide, whole.height / high
        return [int(left * across), int(top * down), max(1, int(right * across)), max(1, int(bottom * down))]
