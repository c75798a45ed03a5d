"""A conversation as input items of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic_core import to_json

from backend_api.agent.model import (
    AssistantTurn,
    ModelRequest,
    NoteTurn,
    Thinking,
    ToolRequest,
    ToolTurn,
    Turn,
    UserTurn,
)
from backend_api.agent.pictures import Image
from backend_api.agent.tool_families import LOAD_TOOL
from backend_api.models.openai.computer import ComputerForm, ComputerItems, computer_items, functions_of
from backend_api.models.openai.tool_search import search_call, search_results
from backend_api.models.wire.extra_fields import extra_of
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.tool_calls import arguments_of
from backend_api.models.wire.tool_search import found_by
from backend_api.models.wire.turns import data_url, images_of, pieces_of, result_text, shown_note_text, user_text

NO_COMPUTER: Mapping[str, ComputerItems] = {}


@dataclass(frozen=True, slots=True)
class _Form:
    """How turns are written: for which model, and whether its provider's tool search is declared."""

    model: str
    may_search: bool


def items_of(request: ModelRequest, computer: ComputerForm | None = None, *, may_search: bool = False) -> list[bytes]:
    """The items in JSON, in the order of the conversation; each call and each result is an item of its own. `computer`
    is the computer tool that is declared; `may_search`: the tool search is declared."""
    request.rendered.forget()
    written, form = computer_items(request, computer), _Form(request.model, may_search)
    as_for_all = partial(_items_json, form=form)
    found = (
        turn.once(("responses", form), as_for_all)
        if _is_alike(turn, written)
        else _items_json(turn, request, written, form=form)
        for turn in request.turns
    )
    return [items for items in found if items]


def _is_alike(turn: Turn, written: Mapping[str, ComputerItems]) -> bool:
    """Whether the turn is written the same in all requests."""
    match turn:
        case ToolTurn():
            return not turn.pictures and turn.call_id not in written
        case NoteTurn():
            return not turn.pictures
        case AssistantTurn():
            return not any(call.call_id in written for call in turn.calls)
        case _:
            return True


def _items_json(
    turn: Turn, request: ModelRequest | None = None, written: Mapping[str, ComputerItems] = NO_COMPUTER, *, form: _Form
) -> bytes:
    return to_json(_items(turn, request, written, form))[1:-1]


def _items(
    turn: Turn, request: ModelRequest | None, written: Mapping[str, ComputerItems], form: _Form
) -> Sequence[dict[str, Any]]:
    match turn:
        case ToolTurn() if turn.call_id in written:
            return written[turn.call_id].result
        case ToolTurn() if form.may_search and turn.name == LOAD_TOOL:
            return search_results(turn, functions_of(found_by(turn)))
        case UserTurn():
            return [_message("user", user_text(turn))]
        case NoteTurn():
            return [_message("user", _note(turn, request))]
        case ToolTurn():
            return [_result(turn, request)]
        case AssistantTurn():
            return _assistant_items(turn, written, form)


def _message(role: str, content: str | list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


def _note(turn: NoteTurn, request: ModelRequest | None) -> str | list[dict[str, Any]]:
    text = shown_note_text(turn, request)
    if request is not None and (images := images_of(turn, request)):
        return [{"type": "input_text", "text": text}, *map(_image, images)]
    return text


def _result(turn: ToolTurn, request: ModelRequest | None) -> dict[str, Any]:
    text = result_text(turn, request)
    output: str | list[dict[str, Any]] = text
    if request is not None and (images := images_of(turn, request)):
        said = [{"type": "input_text", "text": text}] if text else []
        output = [*said, *map(_image, images)]
    return {"type": "function_call_output", "call_id": turn.call_id, "output": output}


def _image(image: Image) -> dict[str, Any]:
    return {"type": "input_image", "image_url": data_url(image), "detail": "auto"}


def _assistant_items(turn: AssistantTurn, written: Mapping[str, ComputerItems], form: _Form) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for piece in pieces_of(turn):
        match piece:
            case str():
                items.append(_message("assistant", piece))
            case Thinking():
                added = extra_of(piece.opaque, "responses", form.model)
                if "message" in added and items and items[-1].get("role") == "assistant":
                    items[-1] |= as_object(added["message"])
                items.extend([as_object(added["item"])] if "item" in added else _reasoning(piece))
    for call in turn.calls:
        items.extend(written[call.call_id].call if call.call_id in written else [_call(call, form)])
    return items


def _reasoning(thinking: Thinking) -> list[dict[str, Any]]:
    item = as_object(arguments_of(thinking.opaque or ""))
    return [item] if item.get("type") == "reasoning" else []


def _call(call: ToolRequest, form: _Form) -> dict[str, Any]:
    if form.may_search and call.name == LOAD_TOOL:
        return search_call(call, form.model)
    written = {
        "type": "function_call",
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.arguments_json,
    }
    return written | as_object(extra_of(call.opaque, "responses", form.model).get("call"))
