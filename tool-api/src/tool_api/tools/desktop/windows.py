"""The windows of the desktop, as the window manager lists them."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from tool_api.tools.desktop.programs import ScreenError, xdotool, xprop

MAX_WINDOWS = 50
MAX_TITLE = 200
_NUMBER = re.compile(r"0x[0-9a-fA-F]{1,8}")
_TEXT = re.compile(r"^(\w+)\(\w+\)(?: =|:) (.*)$", re.MULTILINE)
_GEOMETRY = re.compile(r"^(X|Y|WIDTH|HEIGHT)=(-?\d{1,6})$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One window. Its place is in pixels of the screen."""

    number: int
    title: str
    program: str
    x: int
    y: int
    width: int
    height: int
    is_focused: bool


async def windows_of(display: str) -> list[Window]:
    """The windows that the window manager knows, the one in front first. Raises `ScreenError`."""
    found = await xprop(display, "-root", "_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW")
    lists = dict(_TEXT.findall(found))
    numbers = [int(number, 16) for number in _NUMBER.findall(lists.get("_NET_CLIENT_LIST_STACKING", ""))]
    active = [int(number, 16) for number in _NUMBER.findall(lists.get("_NET_ACTIVE_WINDOW", ""))]
    described = [await _describe(display, number, active) for number in reversed(numbers[-MAX_WINDOWS:])]
    return [window for window in described if window is not None]


async def _describe(display: str, number: int, active: list[int]) -> Window | None:
    try:
        said, placed = await asyncio.gather(
            xprop(display, "-id", str(number), "_NET_WM_NAME", "WM_NAME", "WM_CLASS"),
            xdotool(display, "getwindowgeometry", "--shell", str(number)),
        )
    except ScreenError:
        return None  # it was closed meanwhile
    texts = dict(_TEXT.findall(said))
    place = {name: int(value) for name, value in _GEOMETRY.findall(placed)}
    program = _unquote(texts.get("WM_CLASS", "")).rpartition('", "')[2]
    return Window(
        number=number,
        title=_unquote(texts.get("_NET_WM_NAME") or texts.get("WM_NAME") or "")[:MAX_TITLE],
        program=program[:MAX_TITLE],
        x=place.get("X", 0),
        y=place.get("Y", 0),
        width=place.get("WIDTH", 0),
        height=place.get("HEIGHT", 0),
        is_focused=number in active,
    )


def _unquote(value: str) -> str:
    """The text inside the quotes on one line: a program may put any character into its title."""
    text = value.strip().removeprefix('"').removesuffix('"')
    return "".join(character if character.isprintable() else " " for character in text)
