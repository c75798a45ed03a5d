"""The last calls of an agent with their results, short enough to be compared at every turn."""

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
class CallSummary:
    """A call with its result. `text` shows it to a model; `digest` is the hash of its whole arguments and
    result."""

    name: str
    text: str
    digest: bytes


class LastCalls:
    """The calls since the person's last message: to repeat a call on request is no repetition."""

    def __init__(self) -> None:
        self._calls: deque[CallSummary] = deque(maxlen=KEPT)

    def add(self, called: ToolCalled, result: ToolTurn, body: BodyReference | None) -> None:
        """Add a call after all earlier ones. `body` is the long result stored beside the event."""
        self._calls.append(_summarize_call(called, result, body))

    def forget(self) -> None:
        """Drop all calls."""
        self._calls.clear()

    def all(self) -> list[CallSummary]:
        """All calls, the oldest first."""
        return [*self._calls]


def _summarize_call(called: ToolCalled, result: ToolTurn, body: BodyReference | None) -> CallSummary:
    arguments = json.dumps(called.arguments, ensure_ascii=False, sort_keys=True)
    whole = json.dumps([called.name, arguments, result.success, result.output, body.digest if body else ""])
    short = arguments if len(arguments) <= _MAX_SHOWN else f"{arguments[:_MAX_SHOWN]}..."
    digest = hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=16).digest()
    return CallSummary(name=called.name, text=f"{called.name} {short}", digest=digest)
