"""OpenAI's computer tool in its Responses API: its calls converted to calls of the desktop tools, and back.

One of its calls has several actions, each of which becomes a call here, with a result of its own. The first of them
keeps what the model sent (`ToolRequest.opaque`), and the others are marked as its continuation, so that the whole call
is written back as it came. Its only possible answer is a screenshot, so a call without one (denied, stopped or failed,
or its picture is no longer sent) is written as function calls, whose answers are texts.

Source: OpenAI's guide on computer use, and its reference of responses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from backend_api.agent.events import SafetyCheck
from backend_api.agent.model import AssistantTurn, ModelRequest, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.shortening import shorten
from backend_api.agent.tool import ToolSpec
from backend_api.models.model_facts import ModelFacts
from backend_api.models.openai.actions import calls_of_action
from backend_api.models.wire.bounds import MOST_CALLS, too_many_calls
from backend_api.models.wire.computer_use import DESKTOP_TOOLS, DISPLAY_HEIGHT, DISPLAY_WIDTH, offers_all
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.surrogates import json_of
from backend_api.models.wire.tool_calls import arguments_of, call_part
from backend_api.models.wire.turns import data_url, images_of

ComputerForm = Literal["computer", "computer_use_preview"]
ITEM = "computer_call"
MOST_CHECKS = 8
MAX_CHECK_CHARACTERS = 1_000
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ComputerItems:
    """The items for one of our calls and its result in a conversation; empty if the items of another call cover
    them."""

    call: Sequence[Json] = ()
    result: Sequence[Json] = ()


def form_of(request: ModelRequest, facts: ModelFacts) -> ComputerForm | None:
    """The form this request declares, if the model knows it and all its tools are on offer."""
    form = facts.computer_use
    return form if form in ("computer", "computer_use_preview") and offers_all(request.tools) else None


def declared(tools: Sequence[ToolSpec], form: ComputerForm | None) -> list[Json]:
    """The tools of a request, with the computer tool in place of the tools it stands for."""
    own = [_computer(form)] if form is not None else []
    hidden = DESKTOP_TOOLS if form is not None else frozenset[str]()
    return [*own, *functions_of([tool for tool in tools if tool.name not in hidden])]


def functions_of(tools: Sequence[ToolSpec]) -> list[Json]:
    """The tools declared as functions."""
    return [_function(tool) for tool in tools]


def _computer(form: ComputerForm) -> Json:
    if form == "computer":
        return {"type": form}
    return {"type": form, "display_width": DISPLAY_WIDTH, "display_height": DISPLAY_HEIGHT, "environment": "linux"}


def _function(tool: ToolSpec) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def calls_of(item: Json, *, provider: str) -> list[ToolCallPart]:
    """Our calls for one of its calls. Raises `ValueError` for an unknown form, and `ModelUnavailableError` if it has
    more actions than an answer may have calls."""
    given = arguments_of(json_of(item).decode())
    if given is None:
        raise ValueError("a computer call that is not JSON")
    kept = {name: given[name] for name in ("call_id", "action", "actions", "pending_safety_checks") if name in given}
    whole = {**kept, "type": ITEM, "call_id": str(kept.get("call_id") or "")}
    actions = cast("list[object]", kept["actions"]) if isinstance(kept.get("actions"), list) else [kept.get("action")]
    # Without an action it only asks for a screenshot.
    wanted = [action for action in actions if action is not None] or [{"type": "screenshot"}]
    if len(wanted) > MOST_CALLS:
        raise too_many_calls(provider)
    checks, parts = _checks(kept.get("pending_safety_checks")), list[ToolCallPart]()
    for name, arguments in (call for action in wanted for call in calls_of_action(action)):
        opaque = json_of({"type": ITEM} if parts else whole).decode()
        raw = json_of(arguments).decode()
        parts.append(
            call_part(
                whole["call_id"],
                name,
                raw,
                arguments,
                opaque=opaque,
                safety_checks=checks,
                is_next_action=bool(parts),
            )
        )
    return parts


def _checks(pending: object) -> list[SafetyCheck]:
    """The safety checks shown to a person before they allow the call. Too many to show are refused, as nobody could
    allow them."""
    found = [as_object(one) for one in cast("list[object]", pending or [])] if isinstance(pending or [], list) else None
    if found is None or len(found) > MOST_CHECKS or not all(one.get("id") for one in found):
        raise ValueError("safety checks of an unknown form")
    return [
        SafetyCheck(
            code=shorten(str(one.get("code") or ""), MAX_CHECK_CHARACTERS),
            message=shorten(str(one.get("message") or ""), MAX_CHECK_CHARACTERS),
        )
        for one in found
    ]


def computer_items(request: ModelRequest, form: ComputerForm | None) -> dict[str, ComputerItems]:
    """The items for all calls written in this form, by our calls' ids."""
    if form is None:
        return {}
    said = [turn for turn in request.turns if isinstance(turn, AssistantTurn) and any(one.opaque for one in turn.calls)]
    results = {turn.call_id: turn for turn in request.turns if said and isinstance(turn, ToolTurn)}
    found: dict[str, ComputerItems] = {}
    for turn in said:
        for item, calls in _groups(turn.calls):
            if form == "computer" or item.get("action"):
                found |= _items_of_call(item, calls, results, request, form)
    return found


def _groups(calls: Sequence[ToolRequest]) -> list[tuple[Json, list[ToolRequest]]]:
    """Groups our calls by the computer call they came from."""
    found: list[tuple[Json, list[ToolRequest]]] = []
    is_in_one = False
    for call in calls:
        kept = as_object(arguments_of(call.opaque or ""))
        is_first = kept.get("type") == ITEM and "call_id" in kept
        is_in_one = is_first or (is_in_one and kept.get("type") == ITEM)
        if is_first:
            found.append((kept, [call]))
        elif is_in_one:
            found[-1][1].append(call)
    return found


def _items_of_call(
    item: Json, calls: Sequence[ToolRequest], results: dict[str, ToolTurn], request: ModelRequest, form: ComputerForm
) -> dict[str, ComputerItems]:
    """The items of one computer call; none if one of its calls failed or was not run, or if the screenshot after the
    last can't be sent."""
    done = [results[call.call_id] for call in calls if call.call_id in results and results[call.call_id].success]
    if len(done) < len(calls):
        return {}
    images = images_of(max(done, key=lambda turn: turn.seq), request)
    if not images:
        return {}
    call_id = calls[0].call_id
    checks: list[Json] = item.get("pending_safety_checks") or []
    acts = {name: item[name] for name in ("action", "actions") if item.get(name) is not None}
    said: Json = {"type": ITEM, "id": f"cu_{call_id}"[:64], "call_id": call_id, "status": "completed", **acts}
    said["pending_safety_checks"] = checks
    shown: Json = {"type": "computer_screenshot", "image_url": data_url(images[-1])}
    if form == "computer":
        shown["detail"] = "original"
    answer: Json = {"type": f"{ITEM}_output", "call_id": call_id, "output": shown}
    if checks:
        # It ran, so a person allowed it: calls with safety checks always ask (`capabilities/approval.py`).
        answer["acknowledged_safety_checks"] = checks
    only_one = ComputerItems([said], [answer])
    first, *others = calls
    if not others:
        return {first.call_id: only_one}
    return {
        **{call.call_id: ComputerItems() for call in others[:-1]},
        first.call_id: ComputerItems(call=[said]),
        others[-1].call_id: ComputerItems(result=[answer]),
    }
