"""Content of a chat completion that is a list of parts instead of a text, and how it is sent back.

Sources: Mistral's reference of chat completions (chunks of thinking and of text); OpenAI's of content parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from backend_api.agent.model import AssistantTurn, Part, TextPart, ThinkingPart
from backend_api.models.wire.extra_fields import Json, extra_json, extra_of, extra_part, fields_beyond, merge, text_of
from backend_api.models.wire.faults import as_object

_TEXTS = frozenset({"text", "output_text"})
_THOUGHTS = frozenset({"thinking", "reasoning", "reasoning_content", "reasoning_text", "thought"})
_NOT_KEPT = frozenset({"image_url", "input_audio", "audio", "file", "reference", "refusal"})
"""Parts that are not sent back."""
_TEXT_FIELDS = frozenset({"type", "text", "annotations", "logprobs"})


@dataclass(slots=True)
class ContentParts:
    """Reads content that is a list of parts, each of which may arrive in pieces."""

    model: str
    _thought: Json | None = None
    """The data to be sent back of the open thinking, besides its text."""

    @property
    def is_open(self) -> bool:
        """Whether a thinking part is open."""
        return self._thought is not None

    def parts(self, content: object) -> list[Part]:
        """The parts that the next piece of content adds."""
        given = cast("list[object]", content) if isinstance(content, list) else [content]
        return [part for one in given for part in self._parts_of(one)]

    def closing(self) -> list[Part]:
        """Ends the open thinking part."""
        thought, self._thought = self._thought, None
        return [] if thought is None else [ThinkingPart("", opaque=extra_json("chat", self.model, thought=thought))]

    def _parts_of(self, one: object) -> list[Part]:
        fields = as_object(one)
        kind = fields.get("type")
        if kind in _THOUGHTS:
            return self._thinking(fields, str(kind))
        if not fields or kind in _TEXTS or (kind is None and "text" in fields):
            text = text_of(one)
            added = fields_beyond(fields, _TEXT_FIELDS)
            beside = [extra_part("chat", self.model, text=added)] if added else []
            return [*self.closing(), *([TextPart(text)] if text else []), *beside]
        return (
            [] if kind in _NOT_KEPT or kind is None else [*self.closing(), extra_part("chat", self.model, part=fields)]
        )

    def _thinking(self, fields: Json, kind: str) -> list[Part]:
        key = next((name for name in (kind, "text", "content", "thinking") if name in fields), "thinking")
        thought = {
            "key": key,
            "is_list": isinstance(fields.get(key), list),
            "fields": fields_beyond(fields, {key}),
        }
        if self._thought is None:
            self._thought = thought
        else:
            merge(self._thought, thought)
        text = text_of(fields.get(key))
        return [ThinkingPart(text)] if text else []


@dataclass(slots=True)
class _PartsInProgress:
    """A list of content parts being written; the turn's text is written up to `begin`."""

    turn: AssistantTurn
    items: list[Json] = field(default_factory=list[Json])
    begin: int = 0

    def add_text(self, until: int) -> None:
        text = self.turn.text[self.begin : until]
        self.begin = max(self.begin, until)
        if text.strip():
            self.items.append({"type": "text", "text": text})


def content_of(turn: AssistantTurn, model: str) -> str | list[Json] | None:
    """The content of an assistant's message: a text, unless the model sent parts of another kind."""
    written = _PartsInProgress(turn)
    is_list = False
    for thinking in turn.thinking:
        added = extra_of(thinking.opaque, "chat", model)
        if not added.keys() & {"thought", "text", "part"}:
            continue
        is_list = True
        written.add_text(thinking.offset)
        if "thought" in added:
            written.items.append(_thought(as_object(added["thought"]), thinking.text))
        elif "part" in added:
            written.items.append(as_object(added["part"]))
        elif written.items and written.items[-1].get("type") == "text":
            written.items[-1] |= as_object(added["text"])
    written.add_text(len(turn.text))
    return written.items if is_list and written.items else turn.text or None


def fields_of(turn: AssistantTurn, model: str) -> Json:
    """The fields that the provider added to the message itself."""
    fields: dict[str, Any] = {}
    for thinking in turn.thinking:
        merge(fields, as_object(extra_of(thinking.opaque, "chat", model).get("message")))
    return fields


def _thought(thought: Json, text: str) -> Json:
    inside: str | list[Json] = [{"type": "text", "text": text}] if thought.get("is_list") else text
    return {**as_object(thought.get("fields")), str(thought.get("key")): inside}
