"""Keeps messages for after the active run, and sends each in its turn."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.application.send_message import Message, SendMessage
from backend_api.conversations.domain.entity import Accepted
from backend_api.conversations.domain.errors import NotAloneError
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import DomainError, LimitError, StoreUnavailableError, UnavailableError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Notifier, Topic
from backend_api.message_queue.domain import Claimed, Problem, Queue, Queued, check
from backend_api.message_queue.errors import QueuedMessageChangedError
from backend_api.message_queue.ports import QueueClaims, QueuedMessages

logger = logging.getLogger(__name__)

SWEEP_S = 10.0


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepQueue:
    """Manages the queue of a session. Other users get `SessionNotFoundError`."""

    sessions: SessionRepository
    store: QueuedMessages
    stream: SessionStream
    notifier: Notifier
    limiter: RateLimiter
    limits: Limits
    check_attachments: CheckAttachments
    clock: Callable[[], datetime] = _now

    async def read(self, session_id: SessionId, user_id: UserId) -> Queue:
        """The whole queue."""
        await self.sessions.get(session_id, user_id)
        return await self.store.of_session(session_id)

    async def add(
        self, session_id: SessionId, user_id: UserId, text: str, attachments: Sequence[str], client_id: str | None
    ) -> Queued | None:
        """Adds a message at the end, once for each client id; None if it was sent already. Raises `InvalidError`,
        `MessageTooLongError`, `LimitError`, `QueueFullError`, and what `CheckAttachments` raises."""
        await self.sessions.get(session_id, user_id)
        files = tuple(attachments)
        check(text, files)
        await self._check_files(session_id, user_id, files)
        message = Queued(id=client_id or uuid.uuid4().hex, text=text, attachments=files, added_at=self.clock())
        kept, events = await self.store.add(session_id, user_id, message)
        await self.stream.append(session_id, events)
        await self.notifier.notify(Topic.QUEUE_DUE, session_id)
        return kept

    async def edit(
        self,
        session_id: SessionId,
        user_id: UserId,
        message_id: str,
        *,
        version: int,
        text: str | None,
        attachments: Sequence[str] | None,
    ) -> Queued:
        """Edits the message if it still has this version. Raises `QueuedMessageNotFoundError`,
        `QueuedMessageChangedError`, `QueuedMessageLeavingError`, and what `add` raises for a text and files."""
        await self.sessions.get(session_id, user_id)
        files = None if attachments is None else tuple(attachments)
        await self._check_files(session_id, user_id, files or ())

        def change(present: Queued) -> Queued:
            if present.version != version:
                raise QueuedMessageChangedError("It was edited since you read it. Read it again, then edit it.")
            return present.edited(text, files)

        changed, events = await self.store.change(session_id, user_id, message_id, change)
        await self.stream.append(session_id, events)
        await self.notifier.notify(Topic.QUEUE_DUE, session_id)
        return changed

    async def order(self, session_id: SessionId, user_id: UserId, message_ids: Sequence[str]) -> Queue:
        """Puts all messages in the order in which they are to be sent. Raises `QueueChangedError`."""
        await self.stream.append(session_id, await self.store.order(session_id, user_id, message_ids))
        await self.notifier.notify(Topic.QUEUE_DUE, session_id)
        return await self.store.of_session(session_id)

    async def remove(self, session_id: SessionId, user_id: UserId, message_id: str) -> None:
        """Removes a message. Raises `QueuedMessageNotFoundError`, `QueuedMessageLeavingError`."""
        await self.stream.append(session_id, await self.store.remove(session_id, user_id, message_id))
        await self.notifier.notify(Topic.QUEUE_DUE, session_id)

    async def _check_files(self, session_id: SessionId, user_id: UserId, files: tuple[str, ...]) -> None:
        await self.limiter.hit(f"queue:{user_id}", limit=self.limits.messages_per_minute, window_s=60)
        await self.check_attachments(session_id, user_id, files)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendQueued:
    """Sends queued messages: at once if the person wants it, otherwise one by one, each after the previous run was
    completed. A message is claimed first, sent under its own id, and then removed from the queue. If that is
    interrupted, it is not sent twice, since the session accepts an id once."""

    store: QueueClaims
    stream: SessionStream
    notifier: Notifier
    send: SendMessage
    sweep_s: float = SWEEP_S

    async def now(self, session_id: SessionId, user_id: UserId, message_id: str) -> Accepted:
        """Sends a message now, which cuts the turn of an active run. Raises `SessionNotFoundError`,
        `QueuedMessageNotFoundError`, `QueuedMessageLeavingError`, and what `SendMessage` raises."""
        return await self._send(await self.store.claim(session_id, user_id, message_id), interrupt=True)

    async def send_until_cancelled(self) -> None:
        """Sends due messages for ever, whatever fails."""
        async with self.notifier.subscribe(Topic.QUEUE_DUE) as due:
            while True:
                told = await due.next(self.sweep_s)
                try:
                    for session_id in [SessionId(told)] if told else await self.store.sessions():
                        await self._try(session_id)
                except Exception:
                    logger.exception("queued messages could not be looked at")

    async def _try(self, session_id: SessionId) -> None:
        try:
            await self.send_due(session_id)
        except Exception as error:
            code = error.code if isinstance(error, DomainError) else "internal"
            extra = {"session_id": session_id, "code": code}
            logger.warning("a queued message was not sent", extra=extra, exc_info=not isinstance(error, DomainError))

    async def send_due(self, session_id: SessionId) -> Accepted | None:
        """Sends the first message of a session if it is its turn; None if it is not, or could not be sent now."""
        await self.stream.append(session_id, await self.store.settle_lapsed(session_id))
        claimed = await self.store.claim_due(session_id)
        if claimed is None:
            return None
        try:
            return await self._send(claimed, interrupt=False)
        except NotAloneError:
            return None

    async def _send(self, claimed: Claimed, *, interrupt: bool) -> Accepted:
        message = Message(
            text=claimed.message.text,
            attachments=claimed.message.attachments,
            client_message_id=claimed.message.id,
            interrupt=interrupt,
            alone=not interrupt,
        )
        session_id = claimed.session_id
        try:
            accepted = await self.send(session_id, claimed.user_id, message)
        except StoreUnavailableError:
            # It may have been stored: when the claim lapses, `settle_lapsed` finds out.
            raise
        except DomainError as error:
            passes = interrupt or isinstance(error, NotAloneError | LimitError | UnavailableError)
            problem = None if passes else Problem(code=error.code, detail=error.detail)
            await self.stream.append(session_id, await self.store.release(claimed, problem))
            raise
        await self.stream.append(session_id, await self.store.settle(claimed))
        return accepted
