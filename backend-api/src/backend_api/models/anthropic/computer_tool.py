"""Anthropic's computer tools: which one a request declares, and desktop tools as calls of it.

`computer_20250124` and `computer_20251124` are a single tool with an `action` argument, for models that don't know the
toolset (`anthropic_computer.py`); they need a beta header. Their actions have the names of the toolset's members.

Source: Anthropic's documentation of its computer use tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from backend_api.agent.model import ModelRequest, ToolCallPart, ToolRequest
from backend_api.agent.tool import ToolSpec
from backend_api.models.anthropic import computer as toolset
from backend_api.models.model_facts import ModelFacts
from backend_api.models.wire.computer_use import (
    DESKTOP_TOOLS,
    DISPLAY_HEIGHT,
    DISPLAY_WIDTH,
    SCREENSHOT,
    offers_all,
)
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.surrogates import json_of
from backend_api.models.wire.tool_calls import arguments_of, call_part

ComputerForm = Literal["computer_toolset_20260801", "computer_20251124", "computer_20250124"]
TOOL = "computer"
BETAS: Mapping[ComputerForm, str] = {
    "computer_20251124": "computer-use-2025-11-24",
    "computer_20250124": "computer-use-2025-01-24",
}
"""The value of the beta header for each form that needs one."""
Json = dict[str, Any]


def form_of(request: ModelRequest, facts: ModelFacts) -> ComputerForm | None:
    """The form this request declares, if the model knows it and its tools are on offer."""
    match facts.computer_use:
        case "computer_toolset_20260801" as form if any(tool.name in DESKTOP_TOOLS for tool in request.tools):
            return form
        case ("computer_20251124" | "computer_20250124") as form if offers_all(request.tools):
            return form
        case _:
            return None


def declared(tools: Sequence[ToolSpec], form: ComputerForm | None) -> list[Json]:
    """The tools of a request, with the computer tool in place of the tools it stands for."""
    if form not in BETAS:
        return toolset.declared(tools, with_toolset=form is not None)
    tool: Json = {
        "type": form,
        "name": TOOL,
        "display_width_px": DISPLAY_WIDTH,
        "display_height_px": DISPLAY_HEIGHT,
        **({"enable_zoom": True} if form == "computer_20251124" else {}),
    }
    others = [one for one in tools if one.name not in DESKTOP_TOOLS]
    return [tool, *toolset.declared(others, with_toolset=False)]


def call_of(call_id: str, name: str, from_toolset: str, raw: str, form: ComputerForm | None) -> ToolCallPart:
    """A call of any tool, converted to one of ours."""
    given = arguments_of(raw)
    if from_toolset == toolset.FAMILY:
        tool, arguments = toolset.call_of(name, given)
        return call_part(call_id, tool, raw, arguments)
    if form is None or form not in BETAS or name != TOOL or given is None:
        return call_part(call_id, name, raw, given)
    tool, arguments = _call_of_action(given)
    # Kept as given if it would be written differently: the model's thinking is bound to it.
    is_alike = _input(ToolRequest(call_id="", name=tool, arguments=arguments), form) == list(given.items())
    opaque = None if is_alike else json_of({"name": TOOL, "input": given}).decode()
    return call_part(call_id, tool, raw, arguments, opaque=opaque)


def _call_of_action(given: Json) -> tuple[str, Json | None]:
    action, fields = given.get("action"), {name: value for name, value in given.items() if name != "action"}
    # Each result has the pointer's position.
    return (SCREENSHOT, {}) if action == "cursor_position" else toolset.call_of(str(action), fields)


def written(call: ToolRequest, form: ComputerForm | None) -> Json:
    """A call as a block of the conversation."""
    kept = as_object(arguments_of(call.opaque or ""))
    if kept.get("name") == call.name and isinstance(kept.get("input"), dict):
        # As the model wrote it, with the argument names it was given.
        return {"type": "tool_use", "id": call.call_id, "name": call.name, "input": kept["input"]}
    if form == toolset.TOOLSET:
        return toolset.written(call)
    fields = _input(call, form) if form is not None else None
    if fields is None:
        return {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.arguments or {}}
    return {"type": "tool_use", "id": call.call_id, "name": TOOL, "input": dict(fields)}


def _input(call: ToolRequest, form: ComputerForm) -> list[tuple[str, Any]] | None:
    """The input of the computer tool, or None if the call is not one of its."""
    kept = as_object(arguments_of(call.opaque or ""))
    if kept.get("name") == TOOL:
        return list(as_object(kept.get("input")).items())
    member = toolset.member_of(call.name, call.arguments or {})
    if member is None or (member[0] == "zoom" and form == "computer_20250124"):
        return None
    return [("action", member[0]), *member[1].items()]
