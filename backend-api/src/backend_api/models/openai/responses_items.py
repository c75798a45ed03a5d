"""The state of the items in a stream of responses. Servers send them in pieces, whole or both, in any order: llama.cpp
ends all items after the last piece, Copilot gives an item another id in each event, and others leave out its index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from backend_api.agent.model import ToolCallPart
from backend_api.models.wire.bounds import MOST_CALLS, too_many_calls
from backend_api.models.wire.extra_fields import text_of
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.tool_calls import PartialCall, arguments_of, arguments_text, is_nothing

Json = dict[str, Any]
_Key = tuple[str, object]
_MOST_LOOKS = 64
"""The most times all text so far is searched, since that is slow."""


def _keys_of(event: Json, item: Json) -> list[_Key]:
    """The keys an event's item may be known by: ids, then its index."""
    ids = (event.get("item_id"), item.get("id"), item.get("call_id"))
    index = event.get("output_index")
    place: list[_Key] = [("index", index)] if isinstance(index, int) else []
    return [*(("id", one) for one in ids if isinstance(one, str) and one), *place]


@dataclass(slots=True)
class SeenTexts:
    """The texts of one kind seen so far, by item."""

    _pieces: list[str] = field(default_factory=list[str])
    _parts: dict[_Key, set[object]] = field(default_factory=dict[_Key, set[object]])
    """The parts seen of each item's content."""
    _is_open: bool = False
    """Whether text without an item's id was seen, which may belong to the next item that ends."""
    _has_unnamed: bool = False
    _looks: int = 0

    @property
    def is_any(self) -> bool:
        return bool(self._pieces)

    def begin(self, event: Json) -> None:
        """Begins an item of this kind; it replaces the previous one if the server uses one index for all."""
        self._is_open = False
        self._parts.pop(("index", event.get("output_index")), None)

    def add(self, event: Json, text: str) -> None:
        """Adds a piece of an item's text."""
        if not text:
            return
        self._pieces.append(text)
        keys = _keys_of(event, as_object(event.get("item")))
        for key in keys:
            self._parts.setdefault(key, set()).add(_part_of(event))
        if not keys:
            self._is_open = self._has_unnamed = True

    def rest_of_part(self, event: Json, text: str) -> str:
        """The text of a part that is complete now, or empty if it was seen already."""
        return self._rest(event, text, _part_of(event))

    def rest_of_item(self, event: Json, text: str) -> str:
        """The text of an item that is complete now, or empty if it was seen already."""
        rest = self._rest(event, text, None)
        self._is_open = False
        return rest

    def _rest(self, event: Json, text: str, part: object) -> str:
        keys = _keys_of(event, as_object(event.get("item")))
        if not self._is_repeated(keys, text, part):
            self.add(event, text)
            return text
        for key in keys:
            self._parts.setdefault(key, set()).add(part)
        return ""

    def _is_repeated(self, keys: Sequence[_Key], text: str, part: object) -> bool:
        known = [self._parts[key] for key in keys if key in self._parts]
        if self._is_open or any(part is None or part in parts for parts in known):
            return True
        return bool(text) and (bool(known) or not keys or self._has_unnamed) and self._contains(text)

    def _contains(self, text: str) -> bool:
        self._looks += 1
        return self._looks > _MOST_LOOKS or text in "".join(self._pieces)


def _part_of(event: Json) -> int:
    index = event.get("content_index")
    return index if isinstance(index, int) else 0


@dataclass(slots=True)
class OpenCall(PartialCall):
    """A call whose item has not ended."""

    keys: Sequence[_Key] = ()
    begun: str = ""
    """The arguments at its start."""
    whole: str = ""
    """The arguments sent when they were complete."""

    def arguments_with(self, item: Json) -> str:
        """The arguments, from the finished item or from earlier events."""
        given = (raw_arguments(item), self.whole, self.raw, self.begun)
        return next((raw for raw in given if not is_nothing(raw)), next(filter(None, given), ""))


@dataclass(slots=True)
class OpenCalls:
    """The open calls of one answer, in order."""

    provider: str
    _calls: list[OpenCall] = field(default_factory=list[OpenCall])

    def begin(self, event: Json, item: Json) -> None:
        """Begins a call. Raises `ModelUnavailableError` if there are too many."""
        if len(self._calls) > MOST_CALLS:
            raise too_many_calls(self.provider)
        call_id, name = text_of(item.get("call_id")), text_of(item.get("name"))
        self._calls.append(OpenCall(call_id, name, keys=_keys_of(event, item), begun=raw_arguments(item)))

    def of(self, event: Json) -> OpenCall | None:
        """The call an event's arguments belong to: the last one if the event does not say."""
        found = self._known(_keys_of(event, {}))
        if found is None and self._calls and event.get("output_index") is None:
            return self._calls[-1]
        return found

    def end(self, event: Json, item: Json) -> OpenCall:
        """The call that this item ends; the item may also be its first event."""
        keys, name = _keys_of(event, item), item.get("name")
        found = self._known(keys) or next(
            (call for call in self._calls if not (keys and call.keys) and (not name or call.name in ("", name))), None
        )
        if found is None:
            return OpenCall()
        self._calls = [call for call in self._calls if call is not found]
        return found

    def take_rest(self) -> Sequence[OpenCall]:
        """Takes the calls that did not end."""
        rest, self._calls = self._calls, []
        return rest

    def _known(self, keys: Sequence[_Key]) -> OpenCall | None:
        return next((call for key in keys for call in reversed(self._calls) if key in call.keys), None)


def raw_arguments(item: Json) -> str:
    """The arguments in a call's item, as text."""
    given = item.get("arguments")
    return given if isinstance(given, str) else arguments_text(given) if given else ""


def output_of(response: Json) -> list[Json]:
    """The items of a whole response."""
    output = response.get("output")
    return [item for item in map(as_object, cast("list[object]", output)) if item] if isinstance(output, list) else []


def completed(calls: Sequence[ToolCallPart], output: Sequence[Json]) -> Sequence[ToolCallPart]:
    """The calls, completed with arguments from the whole response where they have none."""
    given = [item for item in output if item.get("type") == "function_call" and not is_nothing(raw_arguments(item))]
    return [_completed(call, given) for call in calls]


def _completed(call: ToolCallPart, given: list[Json]) -> ToolCallPart:
    request = call.request
    if not is_nothing(request.raw):
        return call
    for at, item in enumerate(given):
        ids = {request.call_id, text_of(item.get("call_id"))} - {""}
        if item.get("name") == request.name and len(ids) < 2:
            raw = raw_arguments(given.pop(at))
            return ToolCallPart(replace(request, raw=raw, arguments=arguments_of(raw)))
    return call


def content_text(content: object) -> tuple[str, str]:
    """The text of a message's content, and the part of it that is a refusal."""
    if not isinstance(content, list):
        content = [content]
    parts = cast("list[object]", content)
    refusals = [text_of(as_object(part).get("refusal")) for part in parts]
    return "".join(refusal or text_of(part) for refusal, part in zip(refusals, parts, strict=True)), "".join(refusals)
