"""Spans of a trace, by OpenTelemetry's API; without a collector its tracer does nothing.

Names and attributes hold no text of users. The wire, and a stored run, carry a W3C `traceparent`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    format_trace_id,
    get_current_span,
    get_tracer,
    use_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

SCOPE = "agent"
TRACEPARENT = "traceparent"
TRACER = get_tracer(SCOPE)
_LENGTH = 55
_W3C = TraceContextTextMapPropagator()


@contextmanager
def span(
    name: str,
    *,
    parent: str | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Mapping[str, str | int | float | bool] | None = None,
) -> Generator[Span]:
    """A span around the block, below the current one unless a parent is named. Not for a block that yields.

    A failure is recorded by its class alone: the library would add its message, which may hold users' text.
    """
    context = remote_context(parent) if parent else None
    current = TRACER.start_span(name, context, kind, attributes)
    if current is get_current_span():
        # Nothing is traced: the API's own tracer returns the current span.
        yield current
        return
    with use_span(current, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield current
        except asyncio.CancelledError:
            failed(current, "cancelled")
            raise
        except BaseException as error:
            failed(current, type(error).__name__)
            raise


def failed(span: Span, reason: str) -> None:
    """Mark a span as failed; `reason` is a class or code, never a message."""
    span.set_status(Status(StatusCode.ERROR, reason))


@contextmanager
def following(traceparent: str | None) -> Generator[bool]:
    """Put the work in the block into a caller's trace, if its header is well formed; yields whether it is."""
    context = remote_context(traceparent)
    token = attach(context)
    try:
        yield get_current_span(context).get_span_context().is_valid
    finally:
        detach(token)


def remote_context(traceparent: str | None) -> Context:
    """The context of a caller's trace, empty if the header is missing or malformed. A caller's `tracestate` and baggage
    are not passed on."""
    # The library would write a line of the log for one that is too long.
    if traceparent is None or len(traceparent) != _LENGTH:
        return Context()
    return _W3C.extract({TRACEPARENT: traceparent}, Context())


def current_traceparent() -> str | None:
    """The `traceparent` of this task's span; None if nothing is traced."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get(TRACEPARENT)


def current_trace_id() -> str | None:
    """The id of this task's trace."""
    context = get_current_span().get_span_context()
    return format_trace_id(context.trace_id) if context.is_valid else None
