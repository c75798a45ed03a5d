"""Errors of queued messages."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, NotFoundError


class QueuedMessageNotFoundError(NotFoundError):
    """The message was sent or removed, or is not of this session."""

    code = "queued_message_not_found"


class QueuedMessageChangedError(ConflictError):
    """The message has changed since it was read; nothing was changed."""

    code = "queued_message_changed"


class QueuedMessageLeavingError(ConflictError):
    """The message is just being sent; nothing was changed."""

    code = "queued_message_leaving"


class QueueChangedError(ConflictError):
    """The queue has other messages than those in the given order; nothing was changed."""

    code = "queue_changed"


class QueueFullError(ConflictError):
    """The session has reached the limit of queued messages."""

    code = "queue_full"
