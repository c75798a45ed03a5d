"""The status of a sandbox as routes return it."""

from __future__ import annotations

from typing import Literal

from backend_api.kit.http.schemas import AnswerBody, Time
from backend_api.sandboxes.domain.entity import SandboxStatus


class SandboxBody(AnswerBody):
    seq: int
    """The session's last event before the status was read: no event up to it is newer than the status."""
    status: str
    reason: str | None
    retryable: bool
    has_desktop: bool
    expires_at: Time | None
    ends_at: Time | None
    queue_position: int | None
    queue_reason: Literal["capacity", "user_limit"] | None
    notice: str | None

    @classmethod
    def of(cls, status: SandboxStatus, *, seq: int) -> SandboxBody:
        """The answer for a status that was read after event `seq` was stored."""
        return cls(
            seq=seq,
            status=status.status,
            reason=status.reason,
            retryable=status.retryable,
            has_desktop=status.has_desktop,
            expires_at=status.expires_at,
            ends_at=status.ends_at,
            queue_position=status.queue_position,
            queue_reason=status.queue_reason,
            notice=status.notice,
        )
