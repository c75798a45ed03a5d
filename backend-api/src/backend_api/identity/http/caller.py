"""The caller, as a dependency of every route that is not open."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from backend_api.identity.application.answer_slots import AnswerSlots
from backend_api.identity.application.authenticate import Caller
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.http.ports import port, ports_of
from backend_api.kit.http.trust import trust_peer
from service_kit.listening.peers import address_key

_bearer = HTTPBearer(auto_error=False, description="Access token of POST /api/auth/login.")


async def _token(
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> str | None:
    return credentials.credentials if credentials else None


async def _caller(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    caller = await ports_of(request.app)["authenticate"](credentials.credentials if credentials else None)
    trust_peer(request)
    return caller


Bearer = Annotated[str | None, Depends(_token)]
CurrentCaller = Annotated[Caller, Depends(_caller)]


async def _answer_place(
    answer_slots: Annotated[AnswerSlots, port("answer_slots")], caller: CurrentCaller
) -> AsyncGenerator[None]:
    """Limits the long answers a user receives at once; the place is held until the answer is sent."""
    async with answer_slots.claim_slot(caller.user.id):
        yield


ONE_PLACE = Depends(_answer_place, scope="request")


async def _session_change(
    limiter: Annotated[RateLimiter, port("limiter")], limits: Annotated[Limits, port("limits")], caller: CurrentCaller
) -> None:
    """Counts a change of a session whose event stays in its stream, together with those of its title and options."""
    await limiter.hit(f"session-changes:{caller.user.id}", limit=limits.sessions_per_minute, window_s=60)


SESSION_CHANGE = Depends(_session_change)


def address_of(request: Request) -> str:
    """The key of the calling host's address, as a trusted proxy names it."""
    return address_key(request.client.host) if request.client else "unknown"
