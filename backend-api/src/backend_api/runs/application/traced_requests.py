"""Stored model requests: the part that is new since the request before, with secrets masked.

A conversation is only added to, and each request contains all of it. Stored whole, 50 turns of 200,000 tokens were 50
copies: see docs/decisions/0038.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend_api.agent.model import AssistantTurn, ModelRequest, NoteTurn, ToolTurn, Turn, UserTurn
from backend_api.agent.model_traces import TracedRequest
from backend_api.agent.pictures import Picture
from backend_api.agent.shortening import shorten
from backend_api.agent.tool import ToolSpec
from backend_api.conversations.application.event_json import dump
from backend_api.kit.masking import Mask

MOST_PARTS = 50
"""The most stored parts that a request is put together from; one that would need more is stored whole."""
MAX_BYTES = 8_000_000
"""The most bytes of JSON of one request, which is more than a model reads. In a longer one each text is cut."""
CUT_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBefore:
    """A request of an agent as this process sent it, and its digest so far. `seqs` are the numbers of the events that
    store it, empty until it is stored."""

    system: str
    tools: Sequence[ToolSpec]
    turns: Sequence[Turn]
    hashed: hashlib.blake2b
    seqs: tuple[int, ...] = ()


class WrittenRequest(NamedTuple):
    """`text` is the payload as JSON. `extends` are the numbers of the events that store what comes before it."""

    payload: dict[str, Any]
    text: str
    extends: tuple[int, ...]
    digest: str
    sent: SentBefore


def write_request(
    request: ModelRequest, mask: Mask, *, known: SentBefore | None, stored: TracedRequest | None
) -> WrittenRequest:
    """Write a request. `known` is the agent's last request from this process, `stored` the last one in the log, used if
    this process has none. The request extends it if all of it is the beginning of this one, byte for byte."""
    system, tools = mask.text(request.system), [_tool(tool, mask) for tool in request.tools]
    if known is not None and _is_beginning(known, request) and len(known.seqs) < MOST_PARTS:
        begin, extends, hashed = len(known.turns), known.seqs, known.hashed.copy()
        turns = [_turn_json(turn, mask) for turn in request.turns[begin:]]
        _add(hashed, turns)
    else:
        turns = [_turn_json(turn, mask) for turn in request.turns]
        hashed = _hash_prefix(system, tools)
        begin, extends = _add(hashed, turns, stored if known is None else None)
        turns = turns[begin:]
    payload: dict[str, Any] = {
        "model": request.model,
        "max_output_tokens": request.max_output_tokens,
        "thinking": request.thinking,
        **({} if extends else {"system": system, "tools": tools}),
        "turns": turns,
        "pictures": [*dict.fromkeys(picture.seq for picture in request.pictures)],
    }
    text = dump(payload)
    if len(text.encode()) > MAX_BYTES:
        payload = {**payload, "turns": _shorten(turns), "is_cut": True}
        text = dump(payload)
    sent = SentBefore(system=request.system, tools=request.tools, turns=request.turns, hashed=hashed)
    return WrittenRequest(payload, text, extends, hashed.hexdigest(), sent)


def _is_beginning(known: SentBefore, request: ModelRequest) -> bool:
    count = len(known.turns)
    return (
        bool(known.seqs)
        and count <= len(request.turns)
        and known.system == request.system
        and list(known.tools) == list(request.tools)
        and all(one is other or one == other for one, other in zip(known.turns, request.turns, strict=False))
    )


def _hash_prefix(system: str, tools: list[dict[str, Any]]) -> hashlib.blake2b:
    return hashlib.blake2b(dump([system, tools]).encode(), digest_size=16)


def _add(
    hashed: hashlib.blake2b, turns: Sequence[dict[str, Any]], stored: TracedRequest | None = None
) -> tuple[int, tuple[int, ...]]:
    """The number of turns that the stored request covers, and its events; nothing if it is not their beginning."""
    found: tuple[int, tuple[int, ...]] = (0, ())
    for count, turn in enumerate(turns, start=1):
        hashed.update(dump(turn).encode())
        if stored is not None and count == stored.turn_count and hashed.hexdigest() == stored.digest:
            found = (count, stored.seqs) if len(stored.seqs) < MOST_PARTS else found
    return found


def _tool(tool: ToolSpec, mask: Mask) -> dict[str, Any]:
    # The description of an argument named `password` in a schema is no password.
    return {"name": tool.name, "description": mask.text(tool.description), "parameters": tool.parameters}


def _turn_json(turn: Turn, mask: Mask) -> dict[str, Any]:
    match turn:
        case UserTurn():
            return {"role": "user", "text": mask.text(turn.text), "attachments": [*map(mask.text, turn.attachments)]}
        case NoteTurn():
            note: dict[str, Any] = {"role": "note", "text": mask.text(turn.text)}
            return note | {"pictures": _pictures_json(turn.pictures)} if turn.pictures else note
        case AssistantTurn():
            return {
                "role": "assistant",
                "text": mask.text(turn.text),
                "thinking": [mask.text(thought.text) for thought in turn.thinking if thought.text],
                "calls": [
                    {"id": call.call_id, "name": call.name, "arguments": mask.value(call.arguments or {})}
                    for call in turn.calls
                ],
            }
        case ToolTurn():
            return {
                "role": "tool",
                "call_id": turn.call_id,
                "name": turn.name,
                "success": turn.success,
                "output": mask.text(turn.output),
                "note": mask.text(turn.note),
                "pictures": _pictures_json(turn.pictures),
            }


def _pictures_json(pictures: Sequence[Picture]) -> list[dict[str, Any]]:
    return [{"seq": picture.seq, "media_type": picture.media_type, "size": picture.size} for picture in pictures]


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        return shorten(value, CUT_CHARACTERS)
    if isinstance(value, dict):
        return {name: _shorten(one) for name, one in value.items()}  # pyright: ignore[reportUnknownVariableType] -- JSON
    return [_shorten(one) for one in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType] -- JSON
