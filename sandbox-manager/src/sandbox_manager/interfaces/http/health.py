"""Liveness, readiness and metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox_manager.domain.errors import DomainError
from sandbox_manager.interfaces.http.use_cases import Wired
from service_kit.scraping import check_scraper

_DEADLINE_S = 2.0

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"content": {"application/json": {}}}})
async def readyz(wired: Wired) -> JSONResponse:
    """Each dependency and its state; 503 unless all answer."""
    answers = await asyncio.gather(*(_answer(check) for check in wired.dependencies.values()))
    named = dict(zip(wired.dependencies, answers, strict=True))
    ready = all(answer.state == "ok" for answer in answers)
    body = {
        "ready": ready,
        "dependencies": {name: answer.state for name, answer in named.items()},
        "latency_ms": {name: round(answer.seconds * 1000, 1) for name, answer in named.items()},
    }
    return JSONResponse(body, status_code=200 if ready else 503)


class _Answer(NamedTuple):
    state: str
    seconds: float


async def _answer(check: Callable[[], Awaitable[None]]) -> _Answer:
    began = time.perf_counter()
    asked = asyncio.ensure_future(check())
    # Waited for from outside, so that a driver that ignores its cancellation delays nobody.
    await asyncio.wait({asked}, timeout=_DEADLINE_S)
    asked.cancel()
    asked.add_done_callback(_forget)
    return _Answer(_state(asked), time.perf_counter() - began)


def _state(asked: asyncio.Future[None]) -> str:
    if not asked.done() or asked.cancelled():
        return "does not answer"
    error = asked.exception()
    if error is None:
        return "ok"
    return error.detail if isinstance(error, DomainError) else "does not answer as it should"


def _forget(asked: asyncio.Future[None]) -> None:
    if not asked.cancelled():
        asked.exception()


@router.get(
    "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
async def metrics(request: Request, wired: Wired) -> Response:
    """Prometheus text: with METRICS_TOKEN, or without one for this machine itself."""
    check_scraper(request, wired.metrics_token)
    return Response(await wired.metrics(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
