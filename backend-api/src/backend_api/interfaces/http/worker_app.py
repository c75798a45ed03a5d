"""What a worker process answers over HTTP: whether it lives and whether what it depends on answers."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.responses import JSONResponse

from backend_api.interfaces.http.health import healthz, readiness
from backend_api.interfaces.http.use_cases import Probe


def build_worker_app(required: Mapping[str, Probe], optional: Mapping[str, Probe]) -> FastAPI:
    """Open inside the deployment, as the gateway's health is."""
    app = FastAPI(title="Agent worker", version="1", openapi_url=None)
    app.get("/healthz")(healthz)

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        return await readiness(required, optional)

    return app
