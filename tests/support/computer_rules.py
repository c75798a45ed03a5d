"""What providers refuse of their computer tools.

Sources: OpenAI's guide on computer use and its reference of responses; Anthropic's documentation of its computer use
tool, and the types of both SDKs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anthropic.types.computer_member_name import COMPUTER_MEMBER_NAME_VALUES

from support.refusals import refuse_if

Json = dict[str, Any]
TOOLSET = "computer_toolset_20260801"
MEMBERS = frozenset[str](COMPUTER_MEMBER_NAME_VALUES)
BETAS = {"computer_20250124": "computer-use-2025-01-24", "computer_20251124": "computer-use-2025-11-24"}
"""Anthropic's tools that a header must name, and how."""
OPENAI_TOOLS = frozenset({"computer", "computer_use_preview"})
NAMELESS = frozenset({TOOLSET, "tool_search", *OPENAI_TOOLS})
"""Tools that are no function."""
_GIVEN = {
    "click": {"button", "x", "y"},
    "double_click": {"x", "y"},
    "drag": {"path"},
    "keypress": {"keys"},
    "move": {"x", "y"},
    "screenshot": set[str](),
    "scroll": {"scroll_x", "scroll_y", "x", "y"},
    "type": {"text"},
    "wait": set[str](),
}


def check_anthropic(body: Json, headers: Mapping[str, str]) -> None:
    """The declaration of a computer tool, and the calls of it in the conversation."""
    tools: list[Json] = body.get("tools") or []
    named = {beta.strip() for beta in headers.get("anthropic-beta", "").split(",") if beta.strip()}
    refuse_if(named - set(BETAS.values()), f"Unexpected value(s) {sorted(named)} for the `anthropic-beta` header")
    entries = [tool for tool in tools if tool.get("type") in BETAS]
    for entry in entries:
        kind = entry["type"]
        refuse_if(BETAS[kind] not in named, f"tools: Input tag {kind!r} does not match any of the expected tags")
        refuse_if(entry.get("name") != "computer", f"tools: {kind} is named computer")
        for side in ("display_width_px", "display_height_px"):
            refuse_if(not isinstance(entry.get(side), int), f"tools: {kind}.{side}: Field required")
        known = {"type", "name", "display_width_px", "display_height_px", "display_number", "cache_control"}
        known |= {"enable_zoom"} if kind == "computer_20251124" else set()
        refuse_if(set(entry) - known, f"tools: {kind}: Extra inputs are not permitted: {sorted(set(entry) - known)}")
    refuse_if(len(entries) > 1, "tools: one computer tool at a time")
    if entries:
        for message in body["messages"]:
            for block in message["content"]:
                if block["type"] == "tool_use" and block["name"] == "computer":
                    action = block["input"].get("action")
                    refuse_if(action is None, "a call of computer needs an action")


def toolset_members(body: Json) -> frozenset[str]:
    """The members that a model may be shown to have called."""
    entries = [tool for tool in body.get("tools") or () if tool.get("type") == TOOLSET]
    if not entries:
        return frozenset()
    refuse_if(len(entries) > 1, "tools: a toolset is declared once")
    (entry,) = entries
    refuse_if(set(entry) - {"type", "configs", "cache_control"}, f"tools: {TOOLSET} takes no other field")
    configs: Json = entry.get("configs") or {}
    refuse_if(set(configs) - MEMBERS, f"tools: {TOOLSET} has no such member: {sorted(set(configs) - MEMBERS)}")
    return MEMBERS


def check_openai_tools(body: Json) -> str | None:
    """The computer tool that is declared, if one is."""
    entries = [tool for tool in body.get("tools") or () if tool.get("type") in OPENAI_TOOLS]
    if not entries:
        return None
    refuse_if(len(entries) > 1, "tools: one computer tool at a time")
    (entry,) = entries
    if entry["type"] == "computer":
        refuse_if(set(entry) != {"type"}, f"Unknown parameter: tools.{sorted(set(entry) - {'type'})}")
        return "computer"
    refuse_if(
        set(entry) != {"type", "display_width", "display_height", "environment"}, "tools: computer_use_preview's fields"
    )
    refuse_if(body.get("truncation") != "auto", "truncation must be auto with the computer_use_preview tool")
    return "computer_use_preview"


def check_computer_call(item: Json, declared: str | None) -> None:
    """A call in the conversation."""
    refuse_if(declared is None, "a computer_call needs a computer tool among the tools")
    known = {"type", "id", "call_id", "status", "action", "actions", "pending_safety_checks"}
    refuse_if(set(item) - known, f"Unknown parameter: computer_call.{sorted(set(item) - known)}")
    refuse_if(not str(item.get("id", "")).startswith("cu_"), "Expected an ID that begins with 'cu'")
    refuse_if(item.get("status") not in ("in_progress", "completed", "incomplete"), "computer_call.status")
    refuse_if(not isinstance(item.get("pending_safety_checks"), list), "Missing: computer_call.pending_safety_checks")
    actions: Sequence[Json] = item.get("actions") or ([item["action"]] if item.get("action") else [])
    refuse_if(not actions, "computer_call: neither action nor actions")
    refuse_if(declared == "computer_use_preview" and not item.get("action"), "Missing: computer_call.action")
    for action in actions:
        kind = action.get("type", "")
        refuse_if(kind not in _GIVEN, f"computer_call: there is no action {kind!r}")
        refuse_if(_GIVEN[kind] - set(action), f"computer_call: {kind} needs {sorted(_GIVEN[kind] - set(action))}")


def check_computer_output(item: Json, call: Json | None) -> None:
    """The answer of a call, with the checks it was held back for."""
    refuse_if(call is None, f"No tool call found for computer call with call_id {item['call_id']}.")
    assert call is not None
    known = {"type", "call_id", "output", "acknowledged_safety_checks"}
    refuse_if(set(item) - known, f"Unknown parameter: computer_call_output.{sorted(set(item) - known)}")
    shown: Json = item.get("output") or {}
    refuse_if(shown.get("type") != "computer_screenshot", "computer_call_output.output must be a computer_screenshot")
    refuse_if(not str(shown.get("image_url", "")).startswith("data:image/"), "Invalid computer_call_output.image_url")
    pending = [check["id"] for check in call["pending_safety_checks"]]
    known_of = {check["id"] for check in item.get("acknowledged_safety_checks") or ()}
    left = [one for one in pending if one not in known_of]
    refuse_if(left, f"Computer tool has unacknowledged safety check for {left}")
    refuse_if(known_of - set(pending), f"There is no safety check {sorted(known_of - set(pending))} to acknowledge")
