"""Whether the gateway lives, and whether what it depends on answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from fastapi import APIRouter
from starlette.responses import JSONResponse

from backend_api.interfaces.http.use_cases import Calls, Probe

router = APIRouter(tags=["health"])
logger = logging.getLogger(__name__)

PROBE_S = 2.0


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"content": {"application/json": {}}}})
async def readyz(calls: Calls) -> JSONResponse:
    """Each dependency and its state; 503 when one that is required does not answer."""
    return await readiness(calls.required, calls.optional)


async def readiness(required: Mapping[str, Probe], optional: Mapping[str, Probe]) -> JSONResponse:
    """The answer of `readyz` for these dependencies."""
    needed = dict(zip(required, await asyncio.gather(*map(_probe, required.values())), strict=True))
    useful = dict(zip(optional, await asyncio.gather(*map(_probe, optional.values())), strict=True))
    is_ready = all(state == "ok" for state in needed.values())
    body = {"ready": is_ready, "dependencies": needed | useful}
    return JSONResponse(body, status_code=200 if is_ready else 503)


async def _probe(probe: Probe) -> str:
    try:
        async with asyncio.timeout(PROBE_S):
            await probe()
    except Exception:
        logger.warning("dependency does not answer", exc_info=True)
        return "down"
    return "ok"
