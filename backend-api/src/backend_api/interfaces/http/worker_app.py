"""What a worker process answers over HTTP: whether it lives, what it depends on, and what it counted."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

from backend_api.interfaces.http.health import healthz, metrics_answer, readiness
from backend_api.interfaces.http.use_cases import Metrics, Probe, no_metrics


def build_worker_app(
    required: Mapping[str, Probe], optional: Mapping[str, Probe], metrics: Metrics = no_metrics
) -> FastAPI:
    """Open inside the deployment, as the gateway's health is."""
    app = FastAPI(title="Agent worker", version="1", openapi_url=None)
    app.get("/healthz")(healthz)

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        return await readiness(required, optional)

    @app.get("/metrics")
    async def read_metrics() -> Response:
        return await metrics_answer(metrics)

    return app
