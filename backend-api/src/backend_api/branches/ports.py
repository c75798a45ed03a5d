"""What branches need of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.events import BranchDeleted, Event, MessageUser, PathSelected
from backend_api.branches.domain import Tree
from backend_api.conversations.domain.entity import Session
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A path that is selected, and what is said on it at once: a `message`, or nothing. With `run_for`, the id of a
    message, a run is queued that answers it. `last_user` is the number of the person's last message on the path."""

    selected: PathSelected
    message: MessageUser | None = None
    run_for: str | None = None
    last_user: int = 0


class BranchStore(Protocol):
    """All that was said in a session, on whatever path. It has more than seven methods, as each action reads and
    changes the paths in its own way."""

    async def tree(self, session_id: SessionId) -> Tree:
        """As it is now."""
        ...

    async def message(self, session_id: SessionId, message_id: str) -> Event | None:
        """The event of a message of the person or of the main agent."""
        ...

    async def message_ids(self, session_id: SessionId, seqs: Sequence[int]) -> Mapping[int, str]:
        """The ids of messages by their numbers."""
        ...

    async def begin_of(self, session_id: SessionId, seq: int) -> int:
        """The number of the first event that came with this message: that a schedule sent it stands before it."""
        ...

    async def end_of_run(self, session_id: SessionId, run_id: str, after: int) -> int | None:
        """The number of the end of a run, where the main agent says nothing more before it and the person neither."""
        ...

    async def select(self, session_id: SessionId, user_id: UserId, selection: Selection) -> list[Event]:
        """Store it in one transaction. Raises `SessionNotFoundError`, and `RunActiveError` where a run of the session
        has not ended; for a client's id that was sent before the answer is that message's event alone."""
        ...

    async def delete(self, session_id: SessionId, deleted: BranchDeleted) -> list[Event]:
        """Store it. Raises `SessionNotFoundError`."""
        ...

    async def copy(
        self, source: Session, target: Session, ranges: Sequence[Sequence[int]], *, at_most: int = 0
    ) -> None:
        """Store `target` with these events of `source`, numbered from 1, or nothing. Raises `SessionQuotaError` where
        its user has `at_most` sessions already; 0 is any number."""
        ...
