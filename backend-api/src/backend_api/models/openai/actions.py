"""Actions of OpenAI's computer tool as calls of the desktop tools.

Source: OpenAI's guide on computer use, with its handlers for a desktop driven by xdotool.
"""

from __future__ import annotations

from typing import Any, cast

from backend_api.models.wire.computer_use import KEYBOARD, MOUSE, SCREENSHOT
from backend_api.models.wire.faults import as_object

Call = tuple[str, dict[str, Any]]
"""The name of a tool, and its arguments."""
NO_TOOL = "computer_call"
"""The prefix of the tool name for an unknown action, which no tool has."""
WAIT_S = 2
PIXELS_A_NOTCH = 100
MOST_NOTCHES = 50
_BUTTONS = {"wheel": "middle"}
_WHEEL = {"scroll_y": ("up", "down"), "scroll_x": ("left", "right")}


def calls_of_action(action: object) -> list[Call]:
    """The calls that perform an action, in order. The tools validate the values."""
    given = as_object(action)
    kind = given.get("type")
    if kind in ("click", "double_click", "move", "scroll") and not {"x", "y"} <= given.keys():
        return [_unknown(given)]
    match kind:
        case "screenshot":
            return [(SCREENSHOT, {})]
        case "wait":
            return [(SCREENSHOT, {"wait_s": WAIT_S})]
        case "click":
            button = given.get("button", "left")
            button = _BUTTONS.get(button, button) if isinstance(button, str) else button
            return [_mouse("click", given, button=button)]
        case "double_click" | "move":
            return [_mouse(kind, given)]
        case "scroll":
            return _scrolled(given)
        case "drag":
            return [_dragged(given)]
        case "keypress":
            return [(KEYBOARD, {"action": "press", "keys": _together(given.get("keys"))})]
        case "type":
            return [(KEYBOARD, {"action": "type", "text": given.get("text")})]
        case _:
            return [_unknown(given)]


def _mouse(action: str, given: dict[str, Any], **more: Any) -> Call:
    held = {"keys": _together(given["keys"])} if given.get("keys") else {}
    return MOUSE, {"action": action, "x": given["x"], "y": given["y"], **more, **held}


def _scrolled(given: dict[str, Any]) -> list[Call]:
    """Scrolls by notches of the wheel, one call for each direction."""
    found: list[Call] = []
    for name, (back, on) in _WHEEL.items():
        distance = given.get(name) or 0
        if not isinstance(distance, (int, float)):
            return [_unknown(given)]
        if distance:
            amount = min(MOST_NOTCHES, max(1, round(abs(distance) / PIXELS_A_NOTCH)))
            found.append(_mouse("scroll", given, direction=back if distance < 0 else on, amount=amount))
    return found or [_mouse("move", given)]


def _dragged(given: dict[str, Any]) -> Call:
    path = given.get("path")
    points = [_point(one) for one in cast("list[object]", path)] if isinstance(path, list) else []
    if len(points) < 2 or None in points:
        return _unknown(given)
    (x, y), *rest = cast("list[list[Any]]", points)
    return _mouse("drag", {**given, "x": x, "y": y}, path=rest)


def _point(given: object) -> list[Any] | None:
    """A point given as `{"x": 1, "y": 2}`, or `[1, 2]`."""
    if isinstance(given, list):
        pair = cast("list[Any]", given)
        return pair if len(pair) == 2 else None
    one = as_object(given)
    return [one["x"], one["y"]] if {"x", "y"} <= one.keys() else None


def _together(keys: object) -> str:
    """Keys that are pressed together. The model writes letters in upper case, whether Shift is among them or not."""
    names = [str(key) for key in cast("list[object]", keys)] if isinstance(keys, list) else []
    if len(names) > 1:
        names = [name.lower() if len(name) == 1 else name for name in names]
    return "+".join(names)


def _unknown(given: dict[str, Any]) -> Call:
    kind = given.get("type")
    return f"{NO_TOOL}_{kind}" if isinstance(kind, str) else NO_TOOL, given
