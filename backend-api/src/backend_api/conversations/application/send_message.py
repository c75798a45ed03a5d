"""Accepts a user's message."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass

from backend_api.agent.events import MessageUser
from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.domain.entity import MAX_MESSAGE_CHARACTERS, Accepted
from backend_api.conversations.domain.errors import MessageTooLongError
from backend_api.conversations.ports import RunLedger, SessionStream, Slots
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.invisible_characters import is_blank
from backend_api.kit.notifier import Notifier, Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as a client sends it."""

    text: str
    attachments: tuple[str, ...] = ()
    client_message_id: str | None = None
    interrupt: bool = False
    alone: bool = False
    """Accepted only if it begins a run: `NotAloneError` if one is active."""


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Stores a message before it returns; the run is woken, not awaited. A message that interrupts cuts the current
    turn of an active run, or ends what a run waits for, and the run continues with it.

    Raises `SessionNotFoundError`, `InvalidError`, `MessageTooLongError`, `MessageDiffersError`, `LimitError`,
    `NotAloneError` for one that is to be `alone`, and what `CheckAttachments` raises.
    """

    ledger: RunLedger
    stream: SessionStream
    notifier: Notifier
    limiter: RateLimiter
    limits: Limits
    check_attachments: CheckAttachments
    slots: Slots | None = None

    async def __call__(self, session_id: SessionId, user_id: UserId, message: Message) -> Accepted:
        if is_blank(message.text) and not message.attachments:
            raise InvalidError(
                "This message has only white space or invisible characters. Write what the agent is to read.",
                field="body.text",
            )
        if len(message.text) > MAX_MESSAGE_CHARACTERS:
            raise MessageTooLongError(f"A message has at most {MAX_MESSAGE_CHARACTERS} characters.")
        await self.limiter.hit(f"messages:{user_id}", limit=self.limits.messages_per_minute, window_s=60)
        await self.check_attachments(session_id, user_id, message.attachments)
        said = MessageUser(
            message_id=uuid.uuid4().hex,
            text=message.text,
            attachments=list(message.attachments),
            client_message_id=message.client_message_id,
        )
        accepted = await self._accept(session_id, user_id, said, message)
        if accepted.duplicate:
            return accepted
        if accepted.lease is not None:
            await asyncio.sleep(0)  # the run asks its model before its readers are told that it began
            await self.stream.append(session_id, accepted.events)
            return accepted
        joins_active_run = len(accepted.events) == 1  # a new run is an event beside the message
        if not joins_active_run:
            await self.notifier.notify(Topic.RUN_QUEUED, accepted.run_id)
        elif message.interrupt:
            await self.notifier.notify(Topic.RUN_INBOX, accepted.run_id)
        await self.stream.append(session_id, accepted.events)
        return accepted

    async def _accept(self, session_id: SessionId, user_id: UserId, said: MessageUser, message: Message) -> Accepted:
        """Gives the run to a free worker of this process at once; otherwise it is queued for any worker."""
        slot = self.slots.reserve(session_id) if self.slots else None
        claimant = slot.claimant if slot else None
        try:
            accepted = await self.ledger.accept(
                session_id, user_id, said, claimant=claimant, interrupt=message.interrupt, alone=message.alone
            )
        except BaseException:
            if slot is not None:
                slot.release()
            raise
        if slot is None:
            return accepted
        if accepted.lease is None:
            slot.release()
        else:
            await slot.begin_run(accepted)
        return accepted
