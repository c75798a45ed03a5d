"""The request id: taken over when it is sane, else made, and on every answer and log line."""

from __future__ import annotations

import re
import uuid

from contracts.observation.context import current_work

_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")


def current_request_id() -> str | None:
    """Id of the request being answered; None outside of one."""
    return current_work().request_id


def request_id_of(offered: str | None) -> str:
    """The id of a request that offers this one."""
    return offered if offered is not None and _SANE.fullmatch(offered) else uuid.uuid4().hex
