"""What queued messages stand on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from backend_api.agent.events import Event
from backend_api.kit.ids import SessionId, UserId
from backend_api.message_queue.domain import Claimed, Problem, Queue, Queued


class QueuedMessages(Protocol):
    """Those of sessions. Each change tells how many wait in the stream of its session, in the same transaction; all but
    `of_session` raise `SessionNotFoundError` where the session is not the user's."""

    async def of_session(self, session_id: SessionId) -> Queue:
        """In the order in which they are sent."""
        ...

    async def add(self, session_id: SessionId, user_id: UserId, message: Queued) -> tuple[Queued | None, list[Event]]:
        """At the end. One that waits under this id already is answered as it is, and one that was sent under it as
        None. Raises `QueueFullError`."""
        ...

    async def change(
        self, session_id: SessionId, user_id: UserId, message_id: str, change: Callable[[Queued], Queued]
    ) -> tuple[Queued, list[Event]]:
        """Raises `QueuedMessageNotFoundError`, `QueuedMessageLeavingError`, and what `change` raises."""
        ...

    async def order(self, session_id: SessionId, user_id: UserId, message_ids: Sequence[str]) -> list[Event]:
        """Raises `QueueChangedError` where others wait than these."""
        ...

    async def remove(self, session_id: SessionId, user_id: UserId, message_id: str) -> list[Event]:
        """Raises `QueuedMessageNotFoundError`, `QueuedMessageLeavingError`."""
        ...


class QueueClaims(Protocol):
    """Messages that are being sent: each is claimed by one sender, and is then settled or released."""

    async def sessions(self) -> list[SessionId]:
        """Those in which messages wait."""
        ...

    async def claim(self, session_id: SessionId, user_id: UserId, message_id: str) -> Claimed:
        """Have one, wherever it stands, for sending it: until that is settled or released nobody else changes or sends
        it. Raises `SessionNotFoundError`, `QueuedMessageNotFoundError`, `QueuedMessageLeavingError`."""
        ...

    async def claim_due(self, session_id: SessionId) -> Claimed | None:
        """Have the first one, if it is its turn: nothing runs, the last run was completed, its user may log in, and it
        is not one that could not be sent."""
        ...

    async def release(self, claimed: Claimed, problem: Problem | None = None) -> list[Event]:
        """It was not sent, and waits on; with a problem until the person does something about it."""
        ...

    async def settle(self, claimed: Claimed) -> list[Event]:
        """It was sent, and waits no more."""
        ...

    async def settle_lapsed(self, session_id: SessionId) -> list[Event]:
        """What somebody claimed and left: what was sent by then waits no more, and the rest waits on."""
        ...
