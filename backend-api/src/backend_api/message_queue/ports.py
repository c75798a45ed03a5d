"""The ports of queued messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from backend_api.agent.events import Event
from backend_api.kit.ids import SessionId, UserId
from backend_api.message_queue.domain import Claimed, Problem, Queue, Queued


class QueuedMessages(Protocol):
    """The queues of sessions. Each change stores an event with the number of messages in the same transaction; all
    methods but `of_session` raise `SessionNotFoundError` if the session is not the user's."""

    async def of_session(self, session_id: SessionId) -> Queue:
        """The queue in the order in which messages are sent."""
        ...

    async def add(self, session_id: SessionId, user_id: UserId, message: Queued) -> tuple[Queued | None, list[Event]]:
        """Adds a message at the end. If its id is queued already, that message is returned as it is, and None if it was
        sent. Raises `QueueFullError`."""
        ...

    async def change(
        self, session_id: SessionId, user_id: UserId, message_id: str, change: Callable[[Queued], Queued]
    ) -> tuple[Queued, list[Event]]:
        """Changes a message. Raises `QueuedMessageNotFoundError`, `QueuedMessageLeavingError`, and what `change`
        raises."""
        ...

    async def order(self, session_id: SessionId, user_id: UserId, message_ids: Sequence[str]) -> list[Event]:
        """Reorders the queue. Raises `QueueChangedError` if it has other messages than these."""
        ...

    async def remove(self, session_id: SessionId, user_id: UserId, message_id: str) -> list[Event]:
        """Removes a message. Raises `QueuedMessageNotFoundError`, `QueuedMessageLeavingError`."""
        ...


class QueueClaims(Protocol):
    """Messages being sent: each is claimed by one sender, and then settled or released."""

    async def sessions(self) -> list[SessionId]:
        """The sessions with queued messages."""
        ...

    async def claim(self, session_id: SessionId, user_id: UserId, message_id: str) -> Claimed:
        """Claims a message for sending, wherever it is in the queue: until it is settled or released nobody else
        changes or sends it. Raises `SessionNotFoundError`, `QueuedMessageNotFoundError`,
        `QueuedMessageLeavingError`."""
        ...

    async def claim_due(self, session_id: SessionId) -> Claimed | None:
        """Claims the first message, if it is its turn: no run is active, the last run was completed, its user may log
        in, and it has no problem."""
        ...

    async def release(self, claimed: Claimed, problem: Problem | None = None) -> list[Event]:
        """Releases a message that was not sent; it keeps waiting, with a problem until the person does something about
        it."""
        ...

    async def settle(self, claimed: Claimed) -> list[Event]:
        """Removes a message that was sent."""
        ...

    async def settle_lapsed(self, session_id: SessionId) -> list[Event]:
        """Resolves lapsed claims: messages that were sent are removed, the others keep waiting."""
        ...
