"""A conversation as Anthropic's messages."""

from __future__ import annotations

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
    pictures_in,
)
from backend_api.agent.pictures import Image
from backend_api.models.anthropic.computer_tool import ComputerForm, written
from backend_api.models.wire.extra_fields import extra_of
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.tool_calls import arguments_of
from backend_api.models.wire.tool_search import found_by
from backend_api.models.wire.turns import images_of, pieces_of, result_text, shown_note_text, user_text

REDACTED = "redacted:"
"""The prefix of redacted thinking in old logs, in place of a signature."""
CACHED: dict[str, str] = {"type": "ephemeral"}
_UNMARKED = ("thinking", "redacted_thinking")
"""Blocks that can't have a cache marker."""


@dataclass(frozen=True, slots=True)
class Form:
    """How the turns of a request are written: for which `model`, with which `computer` tool declared for calls of the
    desktop tools, and whether it `searches` for tools by its provider's own search."""

    model: str = ""
    computer: ComputerForm | None = None
    searches: bool = False


ANY = Form()
"""The form used when only the kinds of blocks matter."""
Spoken = list[tuple[str, list[tuple[Turn, bytes]]]]
"""Roles, each with its turns and their blocks in JSON."""


def spoken_in(request: ModelRequest, form: Form) -> Spoken:
    """Groups the turns by role: results of calls are the user's blocks, and neighbours of one role are one message."""
    request.rendered.forget()
    written_so = partial(_blocks_json, form=form)
    spoken: Spoken = []
    for turn in request.turns:
        role = "assistant" if isinstance(turn, AssistantTurn) else "user"
        is_alike = not pictures_in(turn)
        blocks = turn.once(("messages", form), written_so) if is_alike else _blocks_json(turn, request, form)
        if spoken and spoken[-1][0] == role:
            spoken[-1][1].append((turn, blocks))
        elif blocks:
            spoken.append((role, [(turn, blocks)]))
    return spoken


def messages_of(spoken: Spoken, request: ModelRequest, form: Form) -> list[bytes]:
    """The messages in JSON. The last block has a cache marker, and so has the last block of the `lasting` turns."""
    lasting = request.turns[request.lasting - 1] if request.lasting else None
    last = next((turn for turn, blocks in reversed(spoken[-1][1]) if blocks), None) if spoken else None
    messages: list[bytes] = []
    for role, turns in spoken:
        pieces = [
            _marked(turn, request, form, is_last=turn is last) if turn is lasting or turn is last else blocks
            for turn, blocks in turns
            if blocks
        ]
        messages.append(b'{"role":"%s","content":[%s]}' % (role.encode(), b",".join(pieces)))
    return messages


def _marked(turn: Turn, request: ModelRequest, form: Form, *, is_last: bool) -> bytes:
    blocks = _blocks(turn, request, form)
    if is_last or blocks[-1]["type"] not in _UNMARKED:
        blocks[-1]["cache_control"] = CACHED
    return to_json(blocks)[1:-1]


def calls_unthought(spoken: Spoken) -> bool:
    """Whether the last assistant message has calls without thinking before them, as after a context was reopened in the
    middle of a turn."""
    last = next((turns for role, turns in reversed(spoken) if role == "assistant"), None)
    kinds: list[str] = [block["type"] for turn, _ in last or () for block in _blocks(turn)]
    return "tool_use" in kinds and kinds[0] not in _UNMARKED


def _blocks_json(turn: Turn, request: ModelRequest | None = None, form: Form = ANY) -> bytes:
    return to_json(_blocks(turn, request, form))[1:-1]


def _blocks(turn: Turn, request: ModelRequest | None = None, form: Form = ANY) -> list[dict[str, Any]]:
    match turn:
        case UserTurn():
            return [{"type": "text", "text": user_text(turn)}]
        case NoteTurn():
            images = images_of(turn, request) if request is not None else []
            return [{"type": "text", "text": shown_note_text(turn, request)}, *map(_image, images)]
        case ToolTurn():
            return [_result(turn, request, form)]
        case AssistantTurn():
            calls = [_call(call, form.computer, form.model) for call in turn.calls]
            return [*_assistant_blocks(turn, form.model), *calls]


def _result(turn: ToolTurn, request: ModelRequest | None, form: Form) -> dict[str, Any]:
    if form.searches and (found := found_by(turn)):
        references = [{"type": "tool_reference", "tool_name": tool.name} for tool in found]
        return {"type": "tool_result", "tool_use_id": turn.call_id, "content": references}
    text = result_text(turn, request)
    if not text.strip():
        text = "(no output)"
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": turn.call_id, "content": text}
    if request is not None and (images := images_of(turn, request)):
        result["content"] = [{"type": "text", "text": text}, *map(_image, images)]
    elif not turn.success:
        # Only without pictures: an error may only have text.
        result["is_error"] = True
    return result


def _image(image: Image) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.base64}
    return {"type": "image", "source": source}


def _call(call: ToolRequest, computer: ComputerForm | None, model: str) -> dict[str, Any]:
    return written(call, computer) | as_object(extra_of(call.opaque, "messages", model).get("call"))


def _assistant_blocks(turn: AssistantTurn, model: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for piece in pieces_of(turn):
        match piece:
            case str():
                blocks.append({"type": "text", "text": piece})
            case Thinking():
                added = extra_of(piece.opaque, "messages", model)
                if "text" in added and blocks and blocks[-1]["type"] == "text":
                    blocks[-1] |= as_object(added["text"])
                blocks.extend([as_object(added["block"])] if "block" in added else _thinking_blocks(piece))
    return blocks


def _thinking_blocks(thinking: Thinking) -> list[dict[str, Any]]:
    signature = thinking.signature or ""
    if signature.startswith(REDACTED):
        return [{"type": "redacted_thinking", "data": signature.removeprefix(REDACTED)}]
    if signature:
        return [{"type": "thinking", "thinking": thinking.text, "signature": signature}]
    block = as_object(arguments_of(thinking.opaque or ""))
    return [block] if block.get("type") == "redacted_thinking" else []
