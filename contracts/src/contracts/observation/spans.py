"""Spans of a trace. Off, the default, they cost next to nothing. Names and attributes hold no text of users."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Literal, Protocol

Attribute = str | int | float | bool
Kind = Literal["server", "client", "internal"]

TRACEPARENT = "traceparent"
_SANE = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_current: ContextVar[str | None] = ContextVar("traceparent", default=None)


class Span(Protocol):
    """Something that takes time."""

    @property
    def traceparent(self) -> str | None:
        """W3C trace context, to be passed on."""
        ...

    def note(self, name: str, value: Attribute) -> None: ...

    def end(self, error: str | None = None) -> None:
        """`error` is a class or code, never a message."""
        ...

    def beside(self, service: str, name: str, *, at: float, seconds: float) -> None:
        """A child another service told of, begun `at` (Unix time)."""
        ...


class Tracer(Protocol):
    """Where spans go."""

    @property
    def trusts_callers(self) -> bool:
        """Whether a trace that a caller began is gone on with."""
        ...

    def start(self, name: str, parent: str | None, kind: Kind, attributes: Mapping[str, Attribute]) -> Span: ...


class _Silent:
    """A span of nobody."""

    traceparent: str | None = None

    def note(self, name: str, value: Attribute) -> None: ...

    def end(self, error: str | None = None) -> None: ...

    def beside(self, service: str, name: str, *, at: float, seconds: float) -> None: ...


SILENT: Span = _Silent()
_OFF = nullcontext(SILENT)


class Spans:
    """The process's spans; the bootstrap puts a tracer in where one is wanted."""

    tracer: Tracer | None = None

    def accept(self, traceparent: str | None) -> str | None:
        """What a caller sent, when it is sane and wanted."""
        if self.tracer is None or traceparent is None or not self.tracer.trusts_callers:
            return None
        return traceparent if _SANE.fullmatch(traceparent) else None

    def begin(
        self,
        name: str,
        *,
        parent: str | None = None,
        kind: Kind = "internal",
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Span:
        """A span its caller ends; below the current one unless a parent is named."""
        if self.tracer is None:
            return SILENT
        return self.tracer.start(name, parent or _current.get(), kind, attributes or {})

    def span(
        self,
        name: str,
        *,
        parent: str | None = None,
        kind: Kind = "internal",
        attributes: Mapping[str, Attribute] | None = None,
    ) -> AbstractContextManager[Span]:
        """A span around the block; spans begun inside are below it. Not for a block that yields to its caller."""
        if self.tracer is None:
            return _OFF
        return _around(self.tracer.start(name, parent or _current.get(), kind, attributes or {}))


@contextmanager
def _around(span: Span) -> Generator[Span]:
    token = _current.set(span.traceparent)
    error: str | None = None
    try:
        yield span
    except asyncio.CancelledError:
        error = "cancelled"
        raise
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        _current.reset(token)
        span.end(error)


@contextmanager
def following(traceparent: str | None) -> Generator[bool]:
    """Inside, work belongs to a caller's trace, where what it sent is sane; yields whether it does."""
    is_sane = traceparent is not None and _SANE.fullmatch(traceparent) is not None
    token = _current.set(traceparent if is_sane else None)
    try:
        yield is_sane
    finally:
        _current.reset(token)


SPANS = Spans()


def current_traceparent() -> str | None:
    """W3C trace context of what this task does; None when nothing is traced."""
    return _current.get()


def current_trace_id() -> str | None:
    """Of the trace this task works in."""
    traceparent = _current.get()
    return traceparent.split("-")[1] if traceparent else None
