"""Health checks and metrics: whether the gateway lives, whether its dependencies respond, and its counters."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from backend_api.kit.http.ports import Metrics, Options, Probe, port
from backend_api.kit.http.schemas import AnswerBody
from service_kit.scraping import check_scraper

router = APIRouter(tags=["health"])
logger = logging.getLogger(__name__)

PROBE_S = 2.0


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Liveness: the process responds."""
    return {"status": "ok"}


class ReadinessBody(AnswerBody):
    ready: bool
    dependencies: dict[str, Literal["ok", "down"]]
    latency_ms: dict[str, float]
    required: list[str]


@router.get("/readyz", responses={200: {"model": ReadinessBody}, 503: {"model": ReadinessBody}})
async def readyz(
    required: Annotated[Mapping[str, Probe], port("required")],
    optional: Annotated[Mapping[str, Probe], port("optional")],
) -> JSONResponse:
    """Readiness: the state of each dependency; 503 when a required one does not respond."""
    return await readiness(required, optional)


async def readiness(required: Mapping[str, Probe], optional: Mapping[str, Probe]) -> JSONResponse:
    """The response of `readyz` for these dependencies: all are probed at once, each with a timeout."""
    probes = {**required, **optional}
    answers = dict(zip(probes, await asyncio.gather(*map(_answer, probes, probes.values())), strict=True))
    is_ready = all(answers[name].state == "ok" for name in required)
    body = {
        "ready": is_ready,
        "dependencies": {name: answer.state for name, answer in answers.items()},
        "latency_ms": {name: round(answer.seconds * 1000, 1) for name, answer in answers.items()},
        "required": list(required),
    }
    return JSONResponse(body, status_code=200 if is_ready else 503)


class _Answer(NamedTuple):
    state: Literal["ok", "down"]
    seconds: float


async def _answer(name: str, probe: Probe) -> _Answer:
    began = time.perf_counter()
    asked = asyncio.ensure_future(probe())
    # Awaited from outside, so that a driver that ignores cancellation delays nobody.
    await asyncio.wait({asked}, timeout=PROBE_S)
    asked.cancel()
    asked.add_done_callback(_forget)
    error = asked.exception() if asked.done() and not asked.cancelled() else None
    is_up = asked.done() and not asked.cancelled() and error is None
    if not is_up:
        reason = type(error).__name__ if error is not None else "no answer in time"
        logger.warning("dependency does not answer", extra={"dependency": name, "reason": reason})
    return _Answer("ok" if is_up else "down", time.perf_counter() - began)


def _forget(asked: asyncio.Future[None]) -> None:
    if not asked.cancelled():
        asked.exception()


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, 401: {}, 404: {}},
)
async def metrics(request: Request, metrics: Annotated[Metrics, port("metrics")], options: Options) -> Response:
    """Prometheus text: with METRICS_TOKEN, or without one for this machine itself, never through a proxy."""
    check_scraper(request, options.metrics_token)
    return await metrics_answer(metrics)


async def metrics_answer(metrics: Metrics) -> Response:
    """The metrics as a response."""
    return Response(await metrics(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
