"""The request, session and run that the code works for: on every log line, and passed on to the other services."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The ids of the request, session and run, as far as known."""

    request_id: str | None = None
    session_id: str | None = None
    run_id: str | None = None


_NAMES = tuple(field.name for field in fields(Work))
_current: ContextVar[Work] = ContextVar("work", default=Work())  # noqa: B039 -- it is frozen


def current_work() -> Work:
    """The ids of this task."""
    return _current.get()


def work_fields() -> dict[str, str]:
    """The known ids, by name."""
    work = _current.get()
    return {name: value for name in _NAMES if (value := getattr(work, name)) is not None}


@contextmanager
def working_for(
    *, request_id: str | None = None, session_id: str | None = None, run_id: str | None = None
) -> Generator[None]:
    """Have this task, and those it starts, work for exactly these ids inside the block."""
    token = _current.set(Work(request_id=request_id, session_id=session_id, run_id=run_id))
    try:
        yield
    finally:
        _current.reset(token)


HEADERS = {"request_id": "X-Request-ID", "session_id": "X-Session-ID", "run_id": "X-Run-ID"}
_SANE = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def work_headers() -> dict[str, str]:
    """Headers for a call of another service of ours."""
    return {HEADERS[name]: value for name, value in work_fields().items()}


def work_from_headers(headers: Mapping[str, str]) -> Work:
    """The ids in a calling service's headers; malformed ones are left out."""
    ids = {name: headers.get(header, "") for name, header in HEADERS.items()}
    return Work(**{name: value for name, value in ids.items() if _SANE.fullmatch(value)})
