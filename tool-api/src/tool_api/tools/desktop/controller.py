"""The desktop tools' work: mouse and keyboard actions, and the picture after them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from contracts.tools import ToolResult
from tool_api.tools.desktop import types
from tool_api.tools.desktop.clipboard import temporary_clipboard
from tool_api.tools.desktop.keys import parse_keys
from tool_api.tools.desktop.programs import ScreenError, xdotool
from tool_api.tools.desktop.screen import ScaledDisplay, Screen
from tool_api.tools.desktop.windows import windows_of
from tool_api.tools.tool import CallContext, done, failed

BUTTONS = {"left": "1", "middle": "2", "right": "3", "back": "8", "forward": "9"}
WHEEL = {"up": "4", "down": "5", "left": "6", "right": "7"}
CLICKS = {"click": 1, "double_click": 2, "triple_click": 3}
KEY_PAUSE_MS = "6"
TYPING_S = 45.0
PASTED_WITHIN_S = 3.0
_ANNOUNCED_S = 0.1
_PASTED_S = 0.2
_STEPS = 6


class DesktopController:
    """Looks at the screen, and uses it as a person does."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def screenshot(self, _: CallContext, arguments: types.DesktopScreenshot) -> ToolResult:
        async def wait(_: ScaledDisplay) -> str:
            await asyncio.sleep(arguments.wait_s)
            return "A part of the desktop." if arguments.region else "The desktop."

        return await self._screen.look("screenshot", wait, region=arguments.region)

    async def mouse(self, context: CallContext, arguments: types.DesktopMouse) -> ToolResult:
        async def act(display: ScaledDisplay) -> str:
            keys = parse_keys(arguments.keys) if arguments.keys else []
            # All points are looked at before anything is done.
            begin = _move_words(display, arguments.x, arguments.y)
            words = _mouse_words(display, arguments)
            try:
                held = [word for key in keys for word in ("keydown", key)]
                await xdotool(display.name, *begin, *held, *words)
            finally:
                ends = [word for key in reversed(keys) for word in ("keyup", key)]
                if arguments.action == "drag":
                    ends += ["mouseup", BUTTONS[arguments.button]]
                if ends:
                    await _release(display, ends)
            return _description(arguments)

        return await self._screen.use(context, arguments.action, act)

    async def keyboard(self, context: CallContext, arguments: types.DesktopKeyboard) -> ToolResult:
        async def act(display: ScaledDisplay) -> str:
            if arguments.text is not None:
                return await _write(display, arguments.text)
            keys = parse_keys(arguments.keys or "")
            if arguments.action == "press":
                for _ in range(arguments.repeat):
                    await xdotool(display.name, "key", "+".join(keys))
                times = f" {arguments.repeat} times" if arguments.repeat > 1 else ""
                return f"Pressed {arguments.keys}{times}."
            try:
                await xdotool(display.name, *(word for key in keys for word in ("keydown", key)))
                await asyncio.sleep(arguments.seconds)
            finally:
                await _release(display, [word for key in reversed(keys) for word in ("keyup", key)])
            return f"Held {arguments.keys} for {arguments.seconds:g} s."

        return await self._screen.use(context, arguments.action, act)

    async def windows(self, _: CallContext, __: types.DesktopWindows) -> ToolResult:
        try:
            display = await self._screen.scaled_display()
            windows = await windows_of(display.name)
        except ScreenError as error:
            return failed(str(error))
        if not windows:
            return done("There is no window.")
        lines = ["The windows, the one in front first:"]
        for window in windows:
            x, y = display.scale.to_picture(max(0, window.x), max(0, window.y))
            wide, high = display.scale.to_picture(window.width - 1, window.height - 1)
            focus = ", has the focus" if window.is_focused else ""
            lines.append(
                f"{window.number}: {window.title or '(no title)'} ({window.program or 'unknown program'}), "
                f"at ({x}, {y}), {wide + 1}x{high + 1} pixels{focus}"
            )
        return done("\n".join(lines))

    async def window(self, context: CallContext, arguments: types.DesktopWindow) -> ToolResult:
        async def act(display: ScaledDisplay) -> str:
            known = {window.number: window for window in await windows_of(display.name)}
            if arguments.window not in known:
                raise ScreenError(f"There is no window {arguments.window}. desktop_windows lists those there are.")
            await xdotool(display.name, "windowactivate", str(arguments.window))
            title = known[arguments.window].title
            if arguments.action == "close":
                await asyncio.sleep(_ANNOUNCED_S)
                await xdotool(display.name, "key", "alt+F4")
                return f"Asked the window {title!r} to close."
            return f"The window {title!r} is in front."

        return await self._screen.use(context, arguments.action, act)


def _move_words(display: ScaledDisplay, x: int | None, y: int | None) -> list[str]:
    return [] if x is None or y is None else ["mousemove", *display.point(x, y), "sleep", "0.05"]


def _mouse_words(display: ScaledDisplay, arguments: types.DesktopMouse) -> list[str]:
    button = BUTTONS[arguments.button]
    match arguments.action:
        case "move":
            return []
        case "press":
            return ["mousedown", button]
        case "release":
            return ["mouseup", button]
        case "scroll":
            return ["click", "--repeat", str(arguments.amount), "--delay", "20", WHEEL[arguments.direction]]
        case "drag":
            return ["mousedown", button, "sleep", "0.1", *_drag_words(display, arguments), "mouseup", button]
        case clicks:
            return ["click", "--repeat", str(CLICKS[clicks]), "--delay", "60", button]


def _drag_words(display: ScaledDisplay, arguments: types.DesktopMouse) -> list[str]:
    """Moves with stops between the points: a program that sees only a leap does not take it for a drag."""
    words: list[str] = []
    last = None if arguments.x is None or arguments.y is None else (arguments.x, arguments.y)
    for x, y in arguments.path or ():
        display.point(x, y)
        if last is not None:
            for step in range(1, _STEPS):
                between = (last[0] + (x - last[0]) * step // _STEPS, last[1] + (y - last[1]) * step // _STEPS)
                words += ["mousemove", *display.point(*between), "sleep", "0.01"]
        words += ["mousemove", *display.point(x, y), "sleep", "0.05"]
        last = (x, y)
    return words


async def _write(display: ScaledDisplay, text: str) -> str:
    """Type a text that is all on the keys. Paste any other text; line ends behind it are keys again."""
    if text.isascii():
        await xdotool(display.name, "type", "--delay", KEY_PAUSE_MS, "--file", "-", text=text, within_s=TYPING_S)
        return f"Typed {len(text)} characters."
    body = text.rstrip("\n")
    async with temporary_clipboard(body, display.vnc_socket) as clipboard:
        await asyncio.sleep(_ANNOUNCED_S)
        await xdotool(display.name, "key", "shift+Insert")
        try:
            async with asyncio.timeout(PASTED_WITHIN_S):
                await clipboard.pasted.wait()
        except TimeoutError:
            raise ScreenError(
                "Nothing that accepts text has the focus, so the text was not entered. Click where it belongs first."
            ) from None
        await asyncio.sleep(_PASTED_S)
    for _ in range(len(text) - len(body)):
        await xdotool(display.name, "key", "Return")
    return f"Typed {len(text)} characters."


async def _release(display: ScaledDisplay, words: list[str]) -> None:
    """Release keys and buttons, also if the call is cancelled, so that none stays down."""
    with suppress(ScreenError):
        await asyncio.shield(xdotool(display.name, *words))


def _description(arguments: types.DesktopMouse) -> str:
    place = f" at ({arguments.x}, {arguments.y})" if arguments.x is not None else ""
    match arguments.action:
        case "move":
            return f"Moved the pointer to ({arguments.x}, {arguments.y})."
        case "scroll":
            return f"Scrolled {arguments.direction}{place}."
        case "drag":
            return f"Dragged from ({arguments.x}, {arguments.y})." if place else "Dragged."
        case "press" | "release":
            done_so = "Pressed" if arguments.action == "press" else "Released"
            return f"{done_so} the {arguments.button} button{place}."
        case clicks:
            return f"{clicks.replace('_', ' ').capitalize()} with the {arguments.button} button{place}."
