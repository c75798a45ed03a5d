"""Retries around a model: only before the first streamed part, as what was shown can't be taken back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from backend_api.domain.agent.model import ChatModel, ModelError, ModelRequest, Part

LONGEST_ASKED_WAIT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Wait min(base * 2^n + rand(0, 1), max) seconds before attempt n + 1."""

    max_retries: int = 3
    base_delay_s: float = 1.0
    max_delay_s: float = 30.0

    def delay(self, attempt: int, jitter: float, asked_s: float | None) -> float:
        """`asked_s` is the provider's own wish (Retry-After), honoured as given."""
        if asked_s is not None:
            return max(asked_s, 0.0)
        return min(self.base_delay_s * 2**attempt + jitter, self.max_delay_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryingModel:
    """`ChatModel` that asks again after a passing fault."""

    inner: ChatModel
    policy: RetryPolicy
    sleep: Callable[[float], Awaitable[None]]
    jitter: Callable[[], float]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        attempt = 0
        while True:
            has_started = False
            try:
                async with aclosing(self.inner.stream(request)) as parts:
                    async for part in parts:
                        has_started = True
                        yield part
                return
            except ModelError as error:
                asked = error.retry_after_s
                is_last = attempt >= self.policy.max_retries
                if has_started or is_last or not error.may_retry or (asked or 0.0) > LONGEST_ASKED_WAIT_S:
                    raise
            await self.sleep(self.policy.delay(attempt, self.jitter(), asked))
            attempt += 1
