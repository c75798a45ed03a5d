"""Lists in which gateways send a model's thinking, to be sent back unchanged: `reasoning_details` of OpenRouter,
`thinking_blocks` of LiteLLM.

Source: OpenRouter's guide on reasoning tokens: the pieces of one detail share its type and index, and the whole
sequence is sent back unchanged. LiteLLM's guide on reasoning content: a signature ends a block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from backend_api.agent.model import Part, ThinkingPart
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.surrogates import json_of

DETAILS = "reasoning_details"
LISTS = (DETAILS, "thinking_blocks")
REASONING = ("reasoning_content", "reasoning", "thinking")
"""The fields in which servers send thinking as text."""
_SHOWN = ("text", "summary", "thinking")
_GROWING = (*_SHOWN, "data")


@dataclass(slots=True)
class _Detail:
    """One detail so far. Its texts are joined at the end, so that a long one is not copied for each piece."""

    fields: dict[str, Any]
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def is_of(self, piece: dict[str, Any]) -> bool:
        if "index" not in self.fields and self.fields.get("signature"):
            return False
        return all(self.fields.get(name) == piece.get(name) for name in ("type", "index"))

    def grow(self, piece: dict[str, Any]) -> None:
        for name, value in piece.items():
            if name in _GROWING and isinstance(value, str) and isinstance(known := self.fields.get(name), str):
                self.texts.setdefault(name, [known]).append(value)
            elif value is not None and (value or name not in self.fields):
                self.fields[name] = value
                self.texts.pop(name, None)

    def whole(self) -> dict[str, Any]:
        return self.fields | {name: "".join(texts) for name, texts in self.texts.items()}


@dataclass(slots=True)
class ReasoningDetails:
    """The details of one stream, assembled from their pieces, under the name of their list."""

    name: str = DETAILS
    _details: list[_Detail] = field(default_factory=list[_Detail])

    def add(self, pieces: object) -> None:
        if not isinstance(pieces, list):
            return
        for piece in map(as_object, cast("list[object]", pieces)):
            last = self._details[-1] if self._details else None
            if piece and last is not None and last.is_of(piece):
                last.grow(piece)
            elif piece:
                self._details.append(_Detail(dict(piece)))

    def parts(self, *, is_shown: bool = True) -> list[Part]:
        """The details so far, each returned once; with their text unless that `is_shown` already."""
        details, self._details = self._details, []
        if not details:
            return []
        whole = [detail.whole() for detail in details]
        texts = () if is_shown else (one.get(name) for one in whole for name in _SHOWN)
        text = "".join(text for text in texts if isinstance(text, str))
        return [ThinkingPart(text, opaque=json_of({self.name: whole}).decode())]
