"""Alive, and ready."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from fastapi import APIRouter
from starlette.responses import JSONResponse

from sandbox_manager.domain.errors import DomainError
from sandbox_manager.interfaces.http.use_cases import Wired

_DEADLINE_S = 5.0

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"content": {"application/json": {}}}})
async def readyz(wired: Wired) -> JSONResponse:
    """Each dependency and its state; 503 unless all answer."""
    states = await asyncio.gather(*(_state(check) for check in wired.dependencies.values()))
    ready = all(state == "ok" for state in states)
    return JSONResponse(
        {"ready": ready, "dependencies": dict(zip(wired.dependencies, states, strict=True))},
        status_code=200 if ready else 503,
    )


async def _state(check: Callable[[], Awaitable[None]]) -> str:
    try:
        async with asyncio.timeout(_DEADLINE_S):
            await check()
    except TimeoutError:
        return "does not answer"
    except DomainError as error:
        return error.detail
    return "ok"
