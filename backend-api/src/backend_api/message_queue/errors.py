"""What can go wrong with queued messages."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, NotFoundError


class QueuedMessageNotFoundError(NotFoundError):
    """It was sent or taken away, or is none of this session."""

    code = "queued_message_not_found"


class QueuedMessageChangedError(ConflictError):
    """The message is not as it was read; nothing was changed."""

    code = "queued_message_changed"


class QueuedMessageLeavingError(ConflictError):
    """The message is just being sent; nothing was changed."""

    code = "queued_message_leaving"


class QueueChangedError(ConflictError):
    """Other messages wait than those that were put in order; nothing was changed."""

    code = "queue_changed"


class QueueFullError(ConflictError):
    """As many messages of the session wait as may."""

    code = "queue_full"
