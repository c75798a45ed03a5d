"""A conversation as the items that OpenAI's responses take for input."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from backend_api.domain.agent.model import (
    AssistantTurn,
    ModelRequest,
    NoteTurn,
    Thinking,
    ToolRequest,
    ToolTurn,
    Turn,
    UserTurn,
)
from backend_api.domain.agent.pictures import Image
from backend_api.infrastructure.llm.faults import as_object
from backend_api.infrastructure.llm.turns import images_of, note_text, pieces_of, result_text, user_text
from backend_api.infrastructure.llm.wire import arguments_of


def items_of(request: ModelRequest) -> list[bytes]:
    """In JSON, in the order they were said; each call and each result is an item of its own."""
    found = (
        _items_json(turn, request)
        if isinstance(turn, ToolTurn) and turn.pictures
        else turn.once("responses", _items_json)
        for turn in request.turns
    )
    return [items for items in found if items]


def _items_json(turn: Turn, request: ModelRequest | None = None) -> bytes:
    return to_json(_items(turn, request))[1:-1]


def _items(turn: Turn, request: ModelRequest | None) -> list[dict[str, Any]]:
    match turn:
        case UserTurn():
            return [_message("user", user_text(turn))]
        case NoteTurn():
            return [_message("user", note_text(turn))]
        case ToolTurn():
            return [_result(turn, request)]
        case AssistantTurn():
            return _said(turn)


def _message(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


def _result(turn: ToolTurn, request: ModelRequest | None) -> dict[str, Any]:
    text = result_text(turn, request)
    output: str | list[dict[str, Any]] = text
    if request is not None and (images := images_of(turn, request)):
        said = [{"type": "input_text", "text": text}] if text else []
        output = [*said, *map(_image, images)]
    return {"type": "function_call_output", "call_id": turn.call_id, "output": output}


def _image(image: Image) -> dict[str, Any]:
    url = f"data:{image.media_type};base64,{image.base64}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def _said(turn: AssistantTurn) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for piece in pieces_of(turn):
        match piece:
            case str():
                items.append(_message("assistant", piece))
            case Thinking():
                items.extend(_reasoning(piece))
    items.extend(_call(call) for call in turn.calls)
    return items


def _reasoning(thinking: Thinking) -> list[dict[str, Any]]:
    item = as_object(arguments_of(thinking.opaque or ""))
    return [item] if item.get("type") == "reasoning" else []


def _call(call: ToolRequest) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.arguments_json,
    }
