"""The HTTP application of a worker process: liveness, readiness and metrics."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from backend_api.kit.http.health import healthz, metrics_answer, readiness
from backend_api.kit.http.ports import Metrics, Probe, no_metrics
from service_kit.problems import install_problems
from service_kit.requests import NO_TELEMETRY
from service_kit.scraping import check_scraper


def build_worker_app(
    required: Mapping[str, Probe],
    optional: Mapping[str, Probe],
    metrics: Metrics = no_metrics,
    *,
    metrics_token: str = "",
) -> FastAPI:
    """Health is open inside the deployment; metrics are protected like the gateway's."""
    app = FastAPI(title="Agent worker", version="1", openapi_url=None, telemetry=NO_TELEMETRY)
    install_problems(app)
    app.get("/healthz")(healthz)

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        return await readiness(required, optional)

    @app.get("/metrics")
    async def read_metrics(request: Request) -> Response:
        check_scraper(request, metrics_token)
        return await metrics_answer(metrics)

    return app
