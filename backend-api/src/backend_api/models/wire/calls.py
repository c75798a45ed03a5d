"""Model calls: each is measured and traced, its errors are reported without the key, and passing ones are retried."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from opentelemetry.trace import SpanKind

from backend_api.agent.events import NO_USAGE
from backend_api.agent.model import ChatModel, FinishPart, ModelError, ModelRequest, NextAttempt, Part, UsagePart
from backend_api.agent.prices import Prices
from backend_api.kit import measures
from backend_api.models.wire.key_masking import KeyMask
from service_kit.observation.spans import TRACER, failed

LONGEST_ASKED_WAIT_S = 120.0
OTHER_MODELS = "other"
_FINE = frozenset({"stop", "length", "tool_calls"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Waits min(base * 2^n + rand(0, 1), max) seconds before attempt n + 1."""

    max_retries: int = 3
    base_delay_s: float = 1.0
    max_delay_s: float = 30.0

    def delay(self, attempt: int, jitter: float, asked_s: float | None) -> float:
        """The delay before the next attempt; `asked_s` is the provider's own wish (Retry-After), honoured as given."""
        if asked_s is not None:
            return max(asked_s, 0.0)
        return min(self.base_delay_s * 2**attempt + jitter, self.max_delay_s)


class ModelCalls:
    """`ChatModel` around a provider's model with these prices. A call is only retried before the first part that is
    shown, which can't be taken back. `is_measured` models are counted under their name, others together: names chosen
    by users would crowd out the deployment's series. `key_mask` is None if no key is sent."""

    def __init__(
        self,
        inner: ChatModel,
        provider: str,
        policy: RetryPolicy,
        *,
        prices: Prices | None = None,
        is_measured: bool = True,
        key_mask: KeyMask | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._inner = inner
        self._provider = provider
        self._policy = policy
        self._prices = prices
        self._is_measured = is_measured
        self._key_mask = key_mask
        self._sleep = sleep
        self._jitter = jitter

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        attempt = 0
        while True:
            attempted = _Attempt(self._provider, request.model, self._prices, is_measured=self._is_measured)
            try:
                with attempted:
                    async with aclosing(self._inner.stream(request)) as parts:
                        async for part in parts:
                            yield attempted.counted(part)
                return
            except ModelError as original:
                # A masked error has no cause, whose text would have the provider's message.
                error = original if self._key_mask is None else self._key_mask.masked(original)
                asked = error.retry_after_s
                is_last = not request.is_retried or attempt >= self._policy.max_retries
                if attempted.has_begun or is_last or not error.may_retry or (asked or 0.0) > LONGEST_ASKED_WAIT_S:
                    if error is original:
                        raise
                    raise error from None
                wait_s = self._policy.delay(attempt, self._jitter(), asked)
                attempt += 1
                if request.on_failed_attempt is not None:
                    most = self._policy.max_retries + 1
                    request.on_failed_attempt(error, NextAttempt(number=attempt + 1, most=most, wait_s=wait_s))
            await self._sleep(wait_s)


class _Attempt:
    """One call of a model, measured and traced from entering to leaving."""

    def __init__(self, provider: str, model: str, prices: Prices | None, *, is_measured: bool) -> None:
        self._provider = provider
        self._model = model
        self._measured = model if is_measured else OTHER_MODELS
        self._prices = prices
        self._usage = NO_USAGE
        self._outcome = "cut"
        self.has_begun = False
        """Whether any part of the answer but its usage has arrived."""

    def __enter__(self) -> None:
        attributes = {"gen_ai.provider.name": self._provider, "gen_ai.request.model": self._model}
        self._span = TRACER.start_span("model call", kind=SpanKind.CLIENT, attributes=attributes)
        self._began = time.perf_counter()

    def counted(self, part: Part) -> Part:
        """The same part; a usage with its cost."""
        if isinstance(part, UsagePart):
            cost = self._prices.cost(part.usage) if self._prices is not None else None
            self._usage = replace(part.usage, cost=cost)
            return UsagePart(self._usage)
        if not self.has_begun:
            self.has_begun = True
            waited = time.perf_counter() - self._began
            measures.MODEL_FIRST_SECONDS.labels(self._provider, self._measured).observe(waited)
        if isinstance(part, FinishPart):
            self._outcome = part.reason
        return part

    def __exit__(self, _: object, error: BaseException | None, traceback: object) -> None:
        outcome, usage = self._outcome, self._usage
        if isinstance(error, ModelError):
            outcome = error.code
        elif error is not None:
            # Closed by its reader or cancelled: a stop. Anything else is our own fault.
            outcome = "fault" if isinstance(error, Exception) else "stopped"
        measures.MODEL_CALLS.labels(self._provider, self._measured, outcome).inc()
        measures.MODEL_SECONDS.labels(self._provider, self._measured).observe(time.perf_counter() - self._began)
        for kind in ("input", "cached", "output", "thinking"):
            measures.MODEL_TOKENS.labels(self._measured, kind).inc(max(getattr(usage, kind), 0))
        self._span.set_attribute("gen_ai.usage.input_tokens", usage.input)
        self._span.set_attribute("gen_ai.usage.output_tokens", usage.output)
        if outcome not in _FINE:
            failed(self._span, outcome)
        self._span.end()
