"""The route of the metrics for Prometheus, open to any token of this sandbox."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from tool_api.http.authorization import grant_of
from tool_api.measures import REGISTRY

router = APIRouter()


async def _any_grant(request: Request) -> None:
    grant_of(request)


@router.get("/metrics", response_class=Response, dependencies=[Depends(_any_grant)])
async def metrics() -> Response:
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_PLAIN_0_0_4)
