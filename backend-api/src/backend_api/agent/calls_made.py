"""The last calls of an agent with what came of them, short enough to be compared at every turn."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from dataclasses import dataclass

from backend_api.agent.events import BodyReference, ToolCalled
from backend_api.agent.model import ToolTurn

KEPT = 15
"""Calls: a cycle of five, three times."""
_MAX_SHOWN = 200
"""Characters of a call's arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMade:
    """A call with its result. `told` shows it to a model; `digest` is that of the arguments and the result, whole."""

    name: str
    told: str
    digest: bytes


class LastCalls:
    """Those since a person last said something: what is asked for again is done again."""

    def __init__(self) -> None:
        self._made: deque[CallMade] = deque(maxlen=KEPT)

    def add(self, called: ToolCalled, result: ToolTurn, body: BodyReference | None) -> None:
        """After all that were added before. `body` is what stands beside the result."""
        self._made.append(_summarize_call(called, result, body))

    def forget(self) -> None:
        """Begin anew."""
        self._made.clear()

    def all(self) -> list[CallMade]:
        """The first one first."""
        return [*self._made]


def _summarize_call(called: ToolCalled, result: ToolTurn, body: BodyReference | None) -> CallMade:
    arguments = json.dumps(called.arguments, ensure_ascii=False, sort_keys=True)
    whole = json.dumps([called.name, arguments, result.success, result.output, body.digest if body else ""])
    short = arguments if len(arguments) <= _MAX_SHOWN else f"{arguments[:_MAX_SHOWN]}..."
    digest = hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=16).digest()
    return CallMade(name=called.name, told=f"{called.name} {short}", digest=digest)
