"""What Prometheus may read, with any token of this sandbox."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

from service_kit.observation.exposition import MEDIA_TYPE, exposition
from tool_api.http.authorization import grant_of
from tool_api.measures import INSTRUMENTS

router = APIRouter()


async def _any_grant(request: Request) -> None:
    grant_of(request)


@router.get("/metrics", response_class=Response, dependencies=[Depends(_any_grant)])
async def metrics() -> Response:
    return Response(exposition(INSTRUMENTS.all), media_type=MEDIA_TYPE)
