"""Messages that wait for the end of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from backend_api.conversations.domain.entity import MAX_MESSAGE_CHARACTERS
from backend_api.conversations.domain.errors import MessageTooLongError
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.invisible_characters import is_blank

MAX_QUEUED = 20
"""The limit for one session."""
Held = Literal["failed", "stopped", "interrupted"]
"""The outcome of the last run, if it makes the queue wait for the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The reason a message could not be sent in its turn."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A queued message. It is sent with its `id` as `client_message_id`; `version` grows with each edit."""

    id: str
    text: str
    attachments: tuple[str, ...]
    added_at: datetime
    edited_at: datetime | None = None
    version: int = 1
    problem: Problem | None = None

    def edited(self, text: str | None, attachments: tuple[str, ...] | None) -> Queued:
        """The message with the values that are not None. Raises what `check` raises."""
        edited = replace(
            self,
            text=self.text if text is None else text,
            attachments=self.attachments if attachments is None else attachments,
            version=self.version + 1,
            problem=None,
        )
        check(edited.text, edited.attachments)
        return edited


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The queue of a session, the next message first, and the reason if it waits though no run is active."""

    items: list[Queued]
    held: Held | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A message being sent by whoever has its `token`."""

    message: Queued
    session_id: SessionId
    user_id: UserId
    token: str


def check(text: str, attachments: tuple[str, ...]) -> None:
    """Checks it like any message. Raises `InvalidError`, `MessageTooLongError`."""
    if is_blank(text) and not attachments:
        raise InvalidError("A queued message has a text or files. Write what the agent is to read.", field="body.text")
    if len(text) > MAX_MESSAGE_CHARACTERS:
        raise MessageTooLongError(f"A message has at most {MAX_MESSAGE_CHARACTERS} characters.")
