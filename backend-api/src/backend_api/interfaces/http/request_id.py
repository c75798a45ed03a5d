"""The request id: taken over when it is sane, else made, and on every answer and log line."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")
_current: ContextVar[str | None] = ContextVar("request_id", default=None)


def current_request_id() -> str | None:
    """Id of the request being answered; None outside of one."""
    return _current.get()


def take_request_id(offered: str | None) -> str:
    """Set and answer the id of this request."""
    request_id = offered if offered is not None and _SANE.fullmatch(offered) else uuid.uuid4().hex
    _current.set(request_id)
    return request_id
