"""Calls of a model, counted and traced; each attempt is one."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from opentelemetry.trace import SpanKind

from backend_api.application import measures
from backend_api.domain.agent.events import Usage
from backend_api.domain.agent.model import ChatModel, FinishPart, ModelError, ModelRequest, Part, UsagePart
from service_kit.observation.spans import TRACER, failed

_FINE = frozenset({"stop", "length", "tool_calls"})


class WatchedModel:
    """`ChatModel` around another one."""

    def __init__(self, inner: ChatModel, provider: str) -> None:
        self._inner = inner
        self._provider = provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        provider, model = self._provider, request.model
        attributes = {"gen_ai.provider.name": provider, "gen_ai.request.model": model}
        span = TRACER.start_span("model call", kind=SpanKind.CLIENT, attributes=attributes)
        began = time.perf_counter()
        outcome, usage, has_begun = "cut", Usage(), False
        try:
            async with aclosing(self._inner.stream(request)) as parts:
                async for part in parts:
                    if not has_begun:
                        has_begun = True
                        measures.MODEL_FIRST_SECONDS.labels(provider, model).observe(time.perf_counter() - began)
                    if isinstance(part, UsagePart):
                        usage = part.usage
                    elif isinstance(part, FinishPart):
                        outcome = part.reason
                    yield part
        except ModelError as error:
            outcome = error.code
            raise
        except BaseException as error:
            # Closed by its reader or cancelled: a stop. Anything else is a fault of ours.
            outcome = "fault" if isinstance(error, Exception) else "stopped"
            raise
        finally:
            measures.MODEL_CALLS.labels(provider, model, outcome).inc()
            measures.MODEL_SECONDS.labels(provider, model).observe(time.perf_counter() - began)
            for kind in ("input", "cached", "output", "thinking"):
                measures.MODEL_TOKENS.labels(model, kind).inc(max(getattr(usage, kind), 0))
            span.set_attribute("gen_ai.usage.input_tokens", usage.input)
            span.set_attribute("gen_ai.usage.output_tokens", usage.output)
            if outcome not in _FINE:
                failed(span, outcome)
            span.end()
