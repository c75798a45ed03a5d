"""Failures of Redis commands: the errors that adapters catch, and their metric."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from redis.exceptions import RedisError

from backend_api.kit import measures

ERRORS = (RedisError, OSError, TimeoutError)
"""The server did not answer in time, closed the connection or refused the command."""


@contextmanager
def count_failure(use: Literal["command", "listen"] = "command") -> Generator[None]:
    """Counts one of `ERRORS` that leaves the block in `agent_redis_failures_total`, and raises it again."""
    try:
        yield
    except ERRORS:
        measures.REDIS_FAILURES.labels(use).inc()
        raise
