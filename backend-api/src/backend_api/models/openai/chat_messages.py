"""A conversation as messages of OpenAI's chat completions and of compatible servers."""

from __future__ import annotations

from collections.abc import Sequence
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
    pictures_in,
)
from backend_api.agent.pictures import Image
from backend_api.models.openai.chat_content import content_of, fields_of
from backend_api.models.openai.reasoning_details import LISTS
from backend_api.models.wire.extra_fields import extra_of
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.thinking import empty_reasoning
from backend_api.models.wire.tool_calls import arguments_of
from backend_api.models.wire.turns import data_url, images_of, note_text, result_text, shown_note_text, user_text

_Content = str | list[dict[str, Any]]


def messages_of(request: ModelRequest) -> list[bytes]:
    """The messages in JSON. Those before the first picture are joined by commas in one piece, which is built once and
    reused. Neighbours with the user's role are one message, since some models' templates require alternating roles.
    Results of tools can only be text here: their pictures follow the last result, as the user's message."""
    turns, key = request.turns, ("chat", request.model)
    begin, joined = request.rendered.known(key, turns)
    end = _end_of_joinable(turns, begin)
    if end > begin:
        joined = [b",".join([*joined, *_messages(turns[begin:end], request)])]
        request.rendered.keep(key, turns[:end], joined)
        for turn in turns[begin:end]:
            turn.forget()
    return [*joined, *_messages(turns[end:], request)]


def _end_of_joinable(turns: Sequence[Turn], begin: int) -> int:
    """The end of the turns, from `begin` up to the first picture, whose last message can't be merged with a later
    one."""
    end = next((at for at in range(begin, len(turns)) if pictures_in(turns[at])), len(turns))
    while end > begin and not _is_message(turns[end - 1]):
        end -= 1
    return end


def _is_message(turn: Turn) -> bool:
    """Whether the turn is a message of its own."""
    return isinstance(turn, ToolTurn) or (isinstance(turn, AssistantTurn) and bool(turn.calls or turn.text.strip()))


def _messages(turns: Sequence[Turn], request: ModelRequest) -> list[bytes]:
    model = request.model
    messages: list[bytes] = []
    told: list[UserTurn | NoteTurn | list[dict[str, Any]]] = []
    shown: list[dict[str, Any]] = []
    for turn in turns:
        if isinstance(turn, ToolTurn):
            if told:
                messages.append(_user_message(told))
                told = []
            is_text = not turn.pictures
            messages.append(turn.once("chat", _result) if is_text else _result(turn, request))
            if not is_text and (images := images_of(turn, request)):
                shown += _pictures(turn, images)
            continue
        if shown:
            told.append(shown)
            shown = []
        if isinstance(turn, NoteTurn) and turn.pictures:
            told.append([*_parts(shown_note_text(turn, request)), *_image_parts(images_of(turn, request))])
        elif not isinstance(turn, AssistantTurn):
            told.append(turn)
        elif _is_message(turn):
            if told:
                messages.append(_user_message(told))
                told = []
            messages.append(turn.once(("chat", model), lambda said: to_json(_assistant_message(said, model))))
    if shown:
        told.append(shown)
    return [*messages, _user_message(told)] if told else messages


def _user_message(told: Sequence[UserTurn | NoteTurn | list[dict[str, Any]]]) -> bytes:
    """One user message for all of these."""
    first, *others = told
    if not others and not isinstance(first, list):
        return first.once("chat", lambda turn: to_json({"role": "user", "content": _content(turn)}))
    content = _content(first)
    for more in others:
        content = _join(content, _content(more))
    return to_json({"role": "user", "content": content})


def _content(told: UserTurn | NoteTurn | list[dict[str, Any]]) -> _Content:
    match told:
        case UserTurn():
            return user_text(told)
        case NoteTurn():
            return note_text(told)
        case _:
            return told


def _result(turn: ToolTurn, request: ModelRequest | None = None) -> bytes:
    content = result_text(turn, request)
    return to_json({"role": "tool", "tool_call_id": turn.call_id, "content": content})


def _join(said: _Content, more: _Content) -> _Content:
    if isinstance(said, str) and isinstance(more, str):
        return f"{said}\n\n{more}"
    return [*_parts(said), *_parts(more)]


def _parts(content: _Content) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _pictures(turn: ToolTurn, images: Sequence[Image]) -> list[dict[str, Any]]:
    told = note_text(NoteTurn(text=f"What the tool {turn.name} showed (call {turn.call_id}):"))
    return [*_parts(told), *_image_parts(images)]


def _image_parts(images: Sequence[Image]) -> list[dict[str, Any]]:
    return [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in images]


def _assistant_message(turn: AssistantTurn, model: str) -> dict[str, Any]:
    known: dict[str, Any] = {"role": "assistant", "content": content_of(turn, model)}
    message = known | fields_of(turn, model) if turn.thinking else known
    for name in LISTS if turn.thinking else ():
        if details := [detail for thinking in turn.thinking for detail in _details(thinking, name)]:
            message[name] = details
    if not turn.calls:
        return message
    if (empty := empty_reasoning(model)) is not None:
        message["reasoning_content"] = "".join(thinking.text for thinking in turn.thinking) or empty
    message["tool_calls"] = [_call(call, model) for call in turn.calls]
    return message


def _call(call: ToolRequest, model: str) -> dict[str, Any]:
    added = extra_of(call.opaque, "chat", model)
    function = {"name": call.name, "arguments": call.arguments_json}
    written = {"id": call.call_id, "type": "function", "function": function | as_object(added.get("function"))}
    return written | as_object(added.get("call"))


def _details(thinking: Thinking, name: str) -> list[dict[str, Any]]:
    return as_object(arguments_of(thinking.opaque or "")).get(name) or []
