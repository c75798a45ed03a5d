"""Calls in a stream of chat completions, assembled from their pieces.

Pieces are matched by id, then by index. Servers repeat a call at another index, give several calls one index, leave out
ids and indexes, or change an id midway.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from backend_api.agent.model import Part
from backend_api.models.wire.bounds import MAX_NAME_CHARACTERS, MOST_CALLS, too_many_calls
from backend_api.models.wire.extra_fields import Json, extra_json, fields_beyond, merge
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.tool_calls import arguments_of, arguments_text, call_part, is_nothing

_KNOWN = frozenset({"index", "id", "type", "function", "name", "arguments"})
_KNOWN_OF_FUNCTION = frozenset({"name", "arguments", "parameters"})
_MOST_LOOKS = 16
"""The most times a call's arguments are parsed while they arrive, since parsing long ones is slow."""


@dataclass(slots=True)
class _ChatCall:
    """A call while its pieces arrive; `pieces` are grouped by their position."""

    id: str = ""
    name: str = ""
    pieces: dict[object, list[str]] = field(default_factory=dict[object, list[str]])
    added: Json = field(default_factory=dict[str, Any])
    added_to_function: Json = field(default_factory=dict[str, Any])
    looks: int = 0

    def is_whole(self, at: object) -> bool:
        """Whether the arguments at this position are complete, as far as they may still be parsed."""
        came = self.pieces.get(at)
        if not came or not came[-1].rstrip().endswith("}") or self.looks >= _MOST_LOOKS:
            return False
        self.looks += 1
        return arguments_of("".join(came)) is not None

    def add_piece(self, at: object, piece: str, *, goes_on: bool) -> None:
        """Adds a piece; one that begins new arguments is kept apart. If it continues the same call, empty arguments
        before it are dropped: proxies of Anthropic pass on those that its calls begin with."""
        if goes_on and piece.strip() and len(came := self.pieces.get(at, [])) <= 2 and is_nothing("".join(came)):
            self.pieces[at] = []
        elif piece.lstrip().startswith("{") and self.is_whole(at):
            at = (at, len(self.pieces))
        self.pieces.setdefault(at, []).append(piece)

    def raws(self) -> list[str]:
        """The call's arguments; several if different complete ones arrived under one id."""
        texts = ["".join(came) for came in self.pieces.values()]
        joined = "".join(texts)
        if len(texts) < 2 or (joined.strip() and arguments_of(joined) is not None):
            return [joined]
        whole: dict[str, str] = {}
        for text in filter(str.strip, texts):
            arguments = arguments_of(text)
            if arguments is not None:
                whole.setdefault(json.dumps(arguments, sort_keys=True), text)
        return [*whole.values()] or [joined]


@dataclass(slots=True)
class ChatCalls:
    """The calls of one answer of this `model`."""

    provider: str
    model: str
    _calls: list[_ChatCall] = field(default_factory=list[_ChatCall])
    _by_id: dict[str, _ChatCall] = field(default_factory=dict[str, _ChatCall])
    _by_index: dict[object, _ChatCall] = field(default_factory=dict[object, _ChatCall])

    def add(self, delta: object) -> None:
        """Adds the next piece of a call. Raises `ModelUnavailableError` if there are too many calls."""
        given = as_object(delta)
        function = as_object(given.get("function"))
        identifier = str(given.get("id") or "")[:MAX_NAME_CHARACTERS]
        name = str(function.get("name") or given.get("name") or "")[:MAX_NAME_CHARACTERS]
        piece = _piece(function, given)
        index = given.get("index")
        call = self._call_of(identifier, index, name, piece)
        call.id, call.name = call.id or identifier, call.name or name
        if identifier:
            self._by_id[identifier] = call
        if index is not None:
            self._by_index[index] = call
        if piece:
            call.add_piece(index, piece, goes_on=bool(identifier) or not name)
        if not given.keys() <= _KNOWN:
            merge(call.added, fields_beyond(given, _KNOWN))
        if not function.keys() <= _KNOWN_OF_FUNCTION:
            merge(call.added_to_function, fields_beyond(function, _KNOWN_OF_FUNCTION))

    def parts(self) -> list[Part]:
        """All calls, complete. Raises `ModelUnavailableError` if there are too many."""
        return [part for call in self._calls for part in self._parts_of(call)]

    def _parts_of(self, call: _ChatCall) -> list[Part]:
        raws = call.raws()
        if len(raws) > MOST_CALLS:
            raise too_many_calls(self.provider)
        if raws == [""] and not call.name:
            return []
        added = {"call": call.added, "function": call.added_to_function}
        opaque = extra_json("chat", self.model, **added) if call.added or call.added_to_function else None
        return [call_part(call.id, call.name, raw, arguments_of(raw), opaque=opaque) for raw in raws]

    def _call_of(self, identifier: str, index: object, name: str, piece: str) -> _ChatCall:
        known = self._by_id.get(identifier) if identifier else None
        if known is not None and not (name and known.name and name != known.name):
            return known
        last = self._calls[-1] if self._calls else None
        known = last if index is None else self._by_index.get(index)
        if known is None and piece and not identifier and not name:
            known = last
        if known is not None and not _is_other(known, identifier, index, name, piece):
            return known
        if len(self._calls) > MOST_CALLS:
            # Calls are passed on at the end of the answer, so their number has to be limited here.
            raise too_many_calls(self.provider)
        self._calls.append(call := _ChatCall())
        return call


def _piece(function: Json, given: Json) -> str:
    arguments = function.get("arguments")
    if arguments is None:
        arguments = function.get("parameters") if "parameters" in function else given.get("arguments")
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return arguments_text(arguments)


def _is_other(call: _ChatCall, identifier: str, index: object, name: str, piece: str) -> bool:
    """Whether a piece begins another call than its index suggests."""
    if not name or not call.name:
        return False
    differs = bool(identifier and call.id and identifier != call.id)
    if name != call.name:
        return differs or index is None or call.is_whole(index)
    if differs:
        return call.is_whole(index)
    return index is None and piece.lstrip().startswith("{") and call.is_whole(index)
