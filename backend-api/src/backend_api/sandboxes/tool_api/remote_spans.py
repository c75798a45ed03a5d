"""Spans that a sandbox reports, as it can't reach a collector: an attacker's input, clamped to the call's own time."""

from __future__ import annotations

import re
import time
from typing import cast

from opentelemetry.trace import Span, get_tracer, set_span_in_context
from pydantic import TypeAdapter, ValidationError

from contracts.tools import RemoteSpan

SERVICE = "tool-api"
MAX_SPANS = 8
_NAME = re.compile(r"[a-z][a-z0-9 ._-]{0,39}")
_SPANS = TypeAdapter(list[RemoteSpan])
_TRACER = get_tracer(SERVICE)


def record_remote_spans(reported: object, call: Span, began: float) -> None:
    """Add the reported spans below the span of the call, which began at this Unix time; malformed ones are dropped."""
    if not isinstance(reported, list) or not call.is_recording():
        return
    try:
        spans = _SPANS.validate_python(cast("list[object]", reported)[:MAX_SPANS])
    except ValidationError:
        return
    took = time.time() - began
    longest = max((one.start_ms + one.duration_ms for one in spans), default=0.0) / 1000
    # The two clocks need not agree: the way there is taken to be as long as the way back.
    arrived = max(took - longest, 0.0) / 2
    context = set_span_in_context(call)
    for one in spans:
        start = min(max(arrived + one.start_ms / 1000, 0.0), took)
        seconds = min(max(one.duration_ms / 1000, 0.0), took - start)
        if _NAME.fullmatch(one.name):
            start_ns = round((began + start) * 1e9)
            span = _TRACER.start_span(f"{SERVICE} {one.name}", context, start_time=start_ns)
            span.end(start_ns + round(seconds * 1e9))
