"""Calls of Anthropic's computer toolset as calls of the desktop's tools, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from backend_api.agent.model import ToolRequest
from backend_api.agent.tool import ToolSpec
from backend_api.models.anthropic.computer import call_of, declared, member_of, written


@pytest.mark.parametrize(
    ("member", "given", "tool", "ours"),
    [
        ("screenshot", {}, "desktop_screenshot", {}),
        ("zoom", {"region": [1, 2, 3, 4]}, "desktop_screenshot", {"region": [1, 2, 3, 4]}),
        ("wait", {"duration": 2}, "desktop_screenshot", {"wait_s": 2}),
        ("mouse_move", {"coordinate": [1, 2]}, "desktop_mouse", {"action": "move", "x": 1, "y": 2}),
        ("left_click", {}, "desktop_mouse", {"action": "click"}),
        (
            "left_click",
            {"text": "ctrl", "coordinate": [1, 2]},
            "desktop_mouse",
            {"action": "click", "keys": "ctrl", "x": 1, "y": 2},
        ),
        (
            "right_click",
            {"coordinate": [1, 2]},
            "desktop_mouse",
            {"action": "click", "button": "right", "x": 1, "y": 2},
        ),
        ("middle_click", {}, "desktop_mouse", {"action": "click", "button": "middle"}),
        ("double_click", {"coordinate": [1, 2]}, "desktop_mouse", {"action": "double_click", "x": 1, "y": 2}),
        ("triple_click", {}, "desktop_mouse", {"action": "triple_click"}),
        ("left_mouse_down", {}, "desktop_mouse", {"action": "press"}),
        ("left_mouse_up", {}, "desktop_mouse", {"action": "release"}),
        (
            "left_click_drag",
            {"start_coordinate": [1, 2], "coordinate": [3, 4]},
            "desktop_mouse",
            {"action": "drag", "x": 1, "y": 2, "path": [[3, 4]]},
        ),
        (
            "scroll",
            {"coordinate": [1, 2], "scroll_direction": "up", "scroll_amount": 5},
            "desktop_mouse",
            {"action": "scroll", "x": 1, "y": 2, "direction": "up", "amount": 5},
        ),
        (
            "key",
            {"text": "ctrl+s", "repeat": 2},
            "desktop_keyboard",
            {"action": "press", "keys": "ctrl+s", "repeat": 2},
        ),
        ("hold_key", {"text": "a", "duration": 1}, "desktop_keyboard", {"action": "hold", "keys": "a", "seconds": 1}),
        ("type", {"text": "中文"}, "desktop_keyboard", {"action": "type", "text": "中文"}),
    ],
)
def test_each_member_is_one_call_of_ours_and_is_written_back_as_it_was_given(
    member: str, given: dict[str, Any], tool: str, ours: dict[str, Any]
) -> None:
    assert call_of(member, given) == (tool, ours)

    block = written(ToolRequest(call_id="1", name=tool, arguments=ours))

    assert (block["name"], block["toolset_name"]) == (member, "computer")
    assert json.dumps(block["input"]) == json.dumps(given)


@pytest.mark.parametrize(
    ("member", "given"),
    [
        ("left_click", {"coordinate": [1, 2], "force": 9}),
        ("left_click", {"coordinate": "here"}),
        ("left_click", {"coordinate": [1, 2, 3]}),
        ("left_click_drag", {"coordinate": [3, 4], "start_coordinate": None}),
        ("cursor_position", {}),
    ],
)
def test_a_call_that_no_tool_has_a_place_for_is_of_no_tool_and_is_written_back_as_it_was_given(
    member: str, given: dict[str, Any]
) -> None:
    name, arguments = call_of(member, given)

    assert (name, arguments) == (f"computer_{member}", given)
    block = written(ToolRequest(call_id="1", name=name, arguments=arguments))
    assert (block["name"], block["input"], block["toolset_name"]) == (member, given, "computer")


def test_what_the_toolset_lacks_is_written_as_a_function() -> None:
    for name, arguments in (
        ("desktop_mouse", {"action": "click", "button": "back", "x": 1, "y": 2}),
        ("desktop_mouse", {"x": 1, "action": "click", "y": 2}),
        ("desktop_window", {"action": "focus", "window": 1}),
        ("computer_fly", {}),
    ):
        assert member_of(name, arguments) is None
        assert "toolset_name" not in written(ToolRequest(call_id="1", name=name, arguments=arguments))


def test_members_whose_tool_is_not_on_offer_are_withheld() -> None:
    looks = [tool("file_read"), tool("desktop_screenshot"), tool("desktop_windows")]

    entries = declared(looks, with_toolset=True)

    assert [entry.get("name") for entry in entries] == ["file_read", None, "desktop_windows"]
    enabled = {"screenshot", "zoom", "wait"}
    assert entries[1]["type"] == "computer_toolset_20260801"
    assert not enabled & set(entries[1]["configs"])
    assert len(entries[1]["configs"]) == 14
    assert [entry["name"] for entry in declared(looks, with_toolset=False)] == [one.name for one in looks]


def tool(name: str) -> ToolSpec:
    return ToolSpec(name=name, description="", parameters={}, phrase="")
