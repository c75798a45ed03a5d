"""What OpenRouter tells of a model's thinking, `reasoning_details`, which goes back as it came.

Source: OpenRouter's guide on reasoning tokens: the pieces of one detail share its type and index, and the whole
sequence is sent back unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from backend_api.domain.agent.model import Part, ThinkingPart
from backend_api.infrastructure.llm.faults import as_object
from backend_api.infrastructure.llm.surrogates import json_of

DETAILS = "reasoning_details"
_GROWING = ("text", "summary", "data")


@dataclass(slots=True)
class ReasoningDetails:
    """Those of one stream, put together of their pieces."""

    _whole: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def add(self, pieces: object) -> None:
        if not isinstance(pieces, list):
            return
        for piece in map(as_object, cast("list[object]", pieces)):
            last = self._whole[-1] if self._whole else {}
            if piece and (piece.get("type"), piece.get("index")) == (last.get("type"), last.get("index")):
                _grow(last, piece)
            elif piece:
                self._whole.append(dict(piece))

    def parts(self) -> list[Part]:
        """All there are so far, each of them once."""
        whole, self._whole = self._whole, []
        return [ThinkingPart("", opaque=json_of({DETAILS: whole}).decode())] if whole else []


def _grow(detail: dict[str, Any], piece: dict[str, Any]) -> None:
    for name, value in piece.items():
        if name in _GROWING and isinstance(value, str) and isinstance(detail.get(name), str):
            detail[name] += value
        elif value is not None:
            detail[name] = value
