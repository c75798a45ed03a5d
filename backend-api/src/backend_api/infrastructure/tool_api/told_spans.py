"""Spans a sandbox tells of, as it can't reach a collector. They are held within the call's own time."""

from __future__ import annotations

import re
import time
from typing import cast

from pydantic import TypeAdapter, ValidationError

from contracts.observation.spans import SILENT, Span
from contracts.tools import ToldSpan

SERVICE = "tool-api"
MAX_SPANS = 8
_NAME = re.compile(r"[a-z][a-z0-9 ._-]{0,39}")
_SPANS = TypeAdapter(list[ToldSpan])


def tell_spans(told: object, span: Span, began: float) -> None:
    """Put what was told below the span of the call, which began at this Unix time."""
    if not isinstance(told, list) or span is SILENT:
        return
    try:
        spans = _SPANS.validate_python(cast("list[object]", told)[:MAX_SPANS])
    except ValidationError:
        return
    took = time.time() - began
    longest = max((one.start_ms + one.duration_ms for one in spans), default=0.0) / 1000
    # The clocks of the two need not agree: the way there is taken to be as long as the way back.
    arrived = max(took - longest, 0.0) / 2
    for one in spans:
        start = min(max(arrived + one.start_ms / 1000, 0.0), took)
        seconds = min(max(one.duration_ms / 1000, 0.0), took - start)
        if _NAME.fullmatch(one.name):
            span.beside(SERVICE, f"{SERVICE} {one.name}", at=began + start, seconds=seconds)
