"""The port of changed files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.events import StoredPayload
from backend_api.kit.ids import SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Turns of a session that ended: how many, the number of the first one's first event, and of the last one's end."""

    count: int
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEvents:
    """Events that tell what happened to files, in their order; `is_partial` if there were too many to read all."""

    payloads: Sequence[StoredPayload]
    is_partial: bool


class TurnEvents(Protocol):
    """The stored events of ended turns."""

    async def ended_after(self, session_id: SessionId, seq: int) -> Turns | None:
        """The turns that ended after that event; None if there are none."""
        ...

    async def of_turns(self, session_id: SessionId, turns: Turns) -> FileEvents:
        """What these turns told of files."""
        ...

    async def there_before(self, session_id: SessionId, seq: int, paths: Collection[str]) -> set[str]:
        """Those of the paths that events before this one tell to be there."""
        ...
