"""Converts between the desktop tools and Anthropic's computer toolset (`computer_toolset_20260801`), member by member.

A call is stored as one of our tools with the model's arguments in their order, so that it is written back byte for
byte: the model's thinking is bound to it. A call that can't be converted keeps its member's name, and matches no
tool.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from backend_api.agent.model import ToolRequest
from backend_api.agent.tool import ToolSpec
from backend_api.models.wire.computer_use import DESKTOP_TOOLS, KEYBOARD, MOUSE, SCREENSHOT

TOOLSET = "computer_toolset_20260801"
FAMILY = "computer"
_OTHERWISE = f"{FAMILY}_"
_POINT, _PATH = "(x, y)", "path"


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of the toolset. `fields` maps its fields to arguments of our tool, besides the `fixed` arguments."""

    tool: str
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    fields: Mapping[str, str] = field(default_factory=dict[str, str])


_AT = {"coordinate": _POINT, "text": "keys"}
_MEMBERS: Mapping[str, _Member] = {
    "screenshot": _Member(SCREENSHOT),
    "zoom": _Member(SCREENSHOT, fields={"region": "region"}),
    "wait": _Member(SCREENSHOT, fields={"duration": "wait_s"}),
    "mouse_move": _Member(MOUSE, {"action": "move"}, {"coordinate": _POINT}),
    "left_click": _Member(MOUSE, {"action": "click"}, _AT),
    "right_click": _Member(MOUSE, {"action": "click", "button": "right"}, _AT),
    "middle_click": _Member(MOUSE, {"action": "click", "button": "middle"}, _AT),
    "double_click": _Member(MOUSE, {"action": "double_click"}, _AT),
    "triple_click": _Member(MOUSE, {"action": "triple_click"}, _AT),
    "left_mouse_down": _Member(MOUSE, {"action": "press"}, {"coordinate": _POINT}),
    "left_mouse_up": _Member(MOUSE, {"action": "release"}, {"coordinate": _POINT}),
    "left_click_drag": _Member(
        MOUSE, {"action": "drag"}, {"start_coordinate": _POINT, "coordinate": _PATH, "text": "keys"}
    ),
    "scroll": _Member(MOUSE, {"action": "scroll"}, {**_AT, "scroll_direction": "direction", "scroll_amount": "amount"}),
    "key": _Member(KEYBOARD, {"action": "press"}, {"text": "keys", "repeat": "repeat"}),
    "hold_key": _Member(KEYBOARD, {"action": "hold"}, {"text": "keys", "duration": "seconds"}),
    "type": _Member(KEYBOARD, {"action": "type"}, {"text": "text"}),
}
# Never needed: each result has the pointer's position.
_NEVER = ("cursor_position",)


def declared(tools: Sequence[ToolSpec], *, with_toolset: bool) -> list[dict[str, Any]]:
    """The tools of a request, with the toolset in place of the first desktop tool, and members disabled whose tool is
    not on offer."""
    offered = {tool.name for tool in tools}
    entries: list[dict[str, Any]] = []
    is_there = False
    for tool in tools:
        if not with_toolset or tool.name not in DESKTOP_TOOLS:
            entries.append({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
        elif not is_there:
            is_there = True
            entries.append({"type": TOOLSET, "configs": _configs(offered)})
    return entries


def _configs(offered: Collection[str]) -> dict[str, Any]:
    withheld = [*_NEVER, *(name for name, member in _MEMBERS.items() if member.tool not in offered)]
    return {name: {"enabled": False} for name in withheld}


def call_of(name: str, given: dict[str, Any] | None) -> tuple[str, dict[str, Any] | None]:
    """Our tool and its arguments for a call of this member."""
    member = _MEMBERS.get(name)
    ours = _ours(member, given) if member is not None and given is not None else None
    if member is None or ours is None or member_of(member.tool, ours) != (name, given):
        return f"{_OTHERWISE}{name}", given
    return member.tool, ours


def written(call: ToolRequest) -> dict[str, Any]:
    """A call as a block of the conversation, if the toolset is declared."""
    named = member_of(call.name, call.arguments or {})
    block: dict[str, Any] = {"type": "tool_use", "id": call.call_id}
    if named is None:
        return {**block, "name": call.name, "input": call.arguments or {}}
    return {**block, "name": named[0], "input": named[1], "toolset_name": FAMILY}


def member_of(tool: str, ours: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The member and its fields for a call of our tool, or None if no member can have made the call."""
    if tool.startswith(_OTHERWISE) and (name := tool.removeprefix(_OTHERWISE)) in (*_MEMBERS, *_NEVER):
        return name, dict(ours)
    for name, member in _MEMBERS.items():
        theirs = _theirs(member, ours) if member.tool == tool else None
        if theirs is not None and list((_ours(member, theirs) or {}).items()) == list(ours.items()):
            return name, theirs
    return None


def _ours(member: _Member, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments for our tool, or None if a field has no place in it. The tool validates the values."""
    ours: dict[str, Any] = dict(member.fixed)
    for name, value in given.items():
        match member.fields.get(name):
            case None:
                return None
            case "(x, y)":
                point = cast("list[Any]", value) if isinstance(value, list) else []
                if len(point) != 2:
                    return None
                ours["x"], ours["y"] = point
            case "path":
                ours["path"] = [value]
            case place:
                ours[place] = value
    return ours


def _theirs(member: _Member, ours: Mapping[str, Any]) -> dict[str, Any] | None:
    if any(ours.get(name) != value for name, value in member.fixed.items()):
        return None
    names = {place: name for name, place in member.fields.items()}
    theirs: dict[str, Any] = {}
    for place, value in ours.items():
        if place in member.fixed or (place == "y" and _POINT in names):
            continue
        wanted = _POINT if place == "x" else place
        if wanted not in names:
            return None
        if place == "x":
            theirs[names[_POINT]] = [value, ours.get("y")]
        elif place == _PATH:
            points = cast("list[Any]", value) if isinstance(value, list) else []
            if len(points) != 1:
                return None
            theirs[names[_PATH]] = points[0]
        else:
            theirs[names[place]] = value
    return theirs
