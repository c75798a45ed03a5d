"""Actions of OpenAI's computer tool as calls of the desktop's tools."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.models.openai.actions import calls_of_action

MOUSE, KEYBOARD, SCREENSHOT = "desktop_mouse", "desktop_keyboard", "desktop_screenshot"
AT = {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("action", "tool", "arguments"),
    [
        ({"type": "screenshot"}, SCREENSHOT, {}),
        ({"type": "wait"}, SCREENSHOT, {"wait_s": 2}),
        ({"type": "click", "button": "left", **AT}, MOUSE, {"action": "click", **AT, "button": "left"}),
        ({"type": "click", "button": "wheel", **AT}, MOUSE, {"action": "click", **AT, "button": "middle"}),
        ({"type": "click", "button": "back", **AT}, MOUSE, {"action": "click", **AT, "button": "back"}),
        (
            {"type": "click", "button": "right", "keys": ["CTRL", "SHIFT"], **AT},
            MOUSE,
            {"action": "click", **AT, "button": "right", "keys": "CTRL+SHIFT"},
        ),
        ({"type": "double_click", "keys": None, **AT}, MOUSE, {"action": "double_click", **AT}),
        ({"type": "move", **AT}, MOUSE, {"action": "move", **AT}),
        (
            {"type": "drag", "path": [AT, {"x": 3, "y": 4}, [5, 6]]},
            MOUSE,
            {"action": "drag", **AT, "path": [[3, 4], [5, 6]]},
        ),
        (
            {"type": "scroll", "scroll_x": 0, "scroll_y": 320, **AT},
            MOUSE,
            {"action": "scroll", **AT, "direction": "down", "amount": 3},
        ),
        (
            {"type": "scroll", "scroll_x": -5, "scroll_y": 0, **AT},
            MOUSE,
            {"action": "scroll", **AT, "direction": "left", "amount": 1},
        ),
        (
            {"type": "scroll", "scroll_x": 0, "scroll_y": -1e300, **AT},
            MOUSE,
            {"action": "scroll", **AT, "direction": "up", "amount": 50},
        ),
        ({"type": "scroll", "scroll_x": 0, "scroll_y": 0, **AT}, MOUSE, {"action": "move", **AT}),
        ({"type": "keypress", "keys": ["ENTER"]}, KEYBOARD, {"action": "press", "keys": "ENTER"}),
        ({"type": "keypress", "keys": ["A"]}, KEYBOARD, {"action": "press", "keys": "A"}),
        # Shift is a key of its own: a letter that is written large among others is not another one.
        ({"type": "keypress", "keys": ["CTRL", "L"]}, KEYBOARD, {"action": "press", "keys": "CTRL+l"}),
        ({"type": "type", "text": "中文"}, KEYBOARD, {"action": "type", "text": "中文"}),
    ],
)
def test_each_action_is_one_call(action: dict[str, Any], tool: str, arguments: dict[str, Any]) -> None:
    assert calls_of_action(action) == [(tool, arguments)]


def test_a_wheel_that_is_turned_both_ways_is_turned_twice() -> None:
    found = calls_of_action({"type": "scroll", "scroll_x": 100, "scroll_y": -200, **AT})
    assert [(arguments["direction"], arguments["amount"]) for _, arguments in found] == [("up", 2), ("right", 1)]


@pytest.mark.parametrize(
    ("action", "tool"),
    [
        ({"type": "zoom", "region": [1, 2, 3, 4]}, "computer_call_zoom"),
        ({"type": "click", "button": "left"}, "computer_call_click"),
        ({"type": "drag", "path": [AT]}, "computer_call_drag"),
        ({"type": "drag", "path": [AT, {"x": 1}]}, "computer_call_drag"),
        ({"type": "drag"}, "computer_call_drag"),
        ({"type": "scroll", "scroll_y": "far", **AT}, "computer_call_scroll"),
        ({"type": ["click"]}, "computer_call"),
        ("click", "computer_call"),
        (None, "computer_call"),
    ],
)
def test_what_is_not_known_is_a_call_of_no_tool(action: Any, tool: str) -> None:
    ((name, arguments),) = calls_of_action(action)
    assert name == tool
    assert arguments == (action if isinstance(action, dict) else {})
