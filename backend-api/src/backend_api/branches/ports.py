"""The store for branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.events import (
    BranchDeleted,
    Event,
    MessageCompleted,
    MessageUser,
    MessageWithdrawn,
    PathSelected,
)
from backend_api.branches.domain import Tree
from backend_api.conversations.domain.entity import Session
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A path to select, and its new `message`, if any. With `run_for`, the id of a message, a run is queued that
    answers it. `last_user` is the number of the person's last message on the path."""

    selected: PathSelected
    message: MessageUser | None = None
    run_for: str | None = None
    last_user: int = 0


class BranchStore(Protocol):
    """The messages of a session on all paths. It has more than seven methods, as each action reads and changes the
    paths in its own way."""

    async def tree(self, session_id: SessionId) -> Tree:
        """The current tree."""
        ...

    async def message(self, session_id: SessionId, message_id: str) -> Event | None:
        """The event of a message of the person or of the main agent."""
        ...

    async def messages(
        self, session_id: SessionId, seqs: Sequence[int]
    ) -> Mapping[int, MessageUser | MessageCompleted]:
        """Messages by their numbers."""
        ...

    async def end_of_run(self, session_id: SessionId, run_id: str, after: int) -> int | None:
        """The number of the end of a run, unless the main agent has a message before it."""
        ...

    async def withdraw(
        self, session_id: SessionId, user_id: UserId, message: Event, withdrawn: MessageWithdrawn
    ) -> list[Event]:
        """Store the withdrawal of a message; empty if it was stored before. Raises `SessionNotFoundError`, and
        `MessageReadError` if the message was taken for the model, or no run will read it."""
        ...

    async def select(self, session_id: SessionId, user_id: UserId, selection: Selection) -> list[Event]:
        """Store it in one transaction. Raises `SessionNotFoundError`, and `RunActiveError` if a run of the session has
        not ended; for a client's id that was sent before, the result is that message's event alone, and for the name of
        a request that was done before it raises `RequestRepeatedError`."""
        ...

    async def requested(self, session_id: SessionId, client_request_id: str) -> list[Event]:
        """The events that the request of this name stored, of its path and of its run; none if it was not done."""
        ...

    async def is_begun(self, session_id: SessionId) -> bool:
        """Whether there is a session of this id, be it in the making."""
        ...

    async def delete(self, session_id: SessionId, deleted: BranchDeleted) -> list[Event]:
        """Store it. Raises `SessionNotFoundError`."""
        ...

    async def copy(
        self, source: Session, target: Session, ranges: Sequence[Sequence[int]], *, at_most: int = 0
    ) -> None:
        """Store `target` with these events of `source`, numbered from 1, or nothing. Raises `SessionQuotaError` if its
        user has `at_most` sessions already; 0 is any number; `RequestRepeatedError` if there is a session of its id."""
        ...
