"""A conversation as the messages of OpenAI's chat completions, and of everything that speaks its protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend_api.domain.agent.model import (
    AssistantTurn,
    ModelRequest,
    NoteTurn,
    Thinking,
    ToolTurn,
    Turn,
    UserTurn,
)
from backend_api.domain.agent.pictures import Image
from backend_api.infrastructure.llm.faults import as_object
from backend_api.infrastructure.llm.reasoning_details import DETAILS
from backend_api.infrastructure.llm.thinking import empty_reasoning
from backend_api.infrastructure.llm.turns import images_of, note_text, result_text, user_text
from backend_api.infrastructure.llm.wire import arguments_of

_Content = str | list[dict[str, Any]]


def messages_of(request: ModelRequest) -> list[dict[str, Any]]:
    """Neighbours of the user's role are one message, as templates of some models want the roles to alternate. Results
    of tools are text alone there: what they show follows the last of them, as the user's."""
    messages: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []
    for turn in request.turns:
        if shown and not isinstance(turn, ToolTurn):
            messages.append({"role": "user", "content": shown})
            shown = []
        if isinstance(turn, AssistantTurn) and not turn.calls and not turn.text.strip():
            continue
        message = _message(turn, request)
        if messages and messages[-1]["role"] == message["role"] == "user":
            messages[-1]["content"] = _joined(messages[-1]["content"], message["content"])
        else:
            messages.append(message)
        if isinstance(turn, ToolTurn) and (images := images_of(turn, request)):
            shown += _pictures(turn, images)
    return [*messages, {"role": "user", "content": shown}] if shown else messages


def _joined(said: _Content, more: _Content) -> _Content:
    if isinstance(said, str) and isinstance(more, str):
        return f"{said}\n\n{more}"
    return [*_parts(said), *_parts(more)]


def _parts(content: _Content) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _pictures(turn: ToolTurn, images: Sequence[Image]) -> list[dict[str, Any]]:
    told = note_text(NoteTurn(text=f"What the tool {turn.name} showed (call {turn.call_id}):"))
    urls = [f"data:{image.media_type};base64,{image.base64}" for image in images]
    return [*_parts(told), *({"type": "image_url", "image_url": {"url": url}} for url in urls)]


def _message(turn: Turn, request: ModelRequest) -> dict[str, Any]:
    match turn:
        case UserTurn():
            return {"role": "user", "content": user_text(turn)}
        case NoteTurn():
            return {"role": "user", "content": note_text(turn)}
        case ToolTurn():
            return {"role": "tool", "tool_call_id": turn.call_id, "content": result_text(turn, request)}
        case AssistantTurn():
            return _said(turn, request.model)


def _said(turn: AssistantTurn, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if details := [detail for thinking in turn.thinking for detail in _details(thinking)]:
        message["reasoning_details"] = details
    if not turn.calls:
        return message
    if (empty := empty_reasoning(model)) is not None:
        message["reasoning_content"] = "".join(thinking.text for thinking in turn.thinking) or empty
    message["tool_calls"] = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments_json},
        }
        for call in turn.calls
    ]
    return message


def _details(thinking: Thinking) -> list[dict[str, Any]]:
    return as_object(arguments_of(thinking.opaque or "")).get(DETAILS) or []
