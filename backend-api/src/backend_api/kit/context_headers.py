"""Headers sent with every call of another service of ours: whom it is for, and which trace it belongs to."""

from __future__ import annotations

from service_kit.observation.context import work_headers
from service_kit.observation.spans import TRACEPARENT, current_traceparent


def context_headers() -> dict[str, str]:
    """The headers of a call made now."""
    headers = work_headers()
    if (traceparent := current_traceparent()) is not None:
        headers[TRACEPARENT] = traceparent
    return headers
