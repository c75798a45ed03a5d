"""The caller, as a dependency of every route that is not open."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from backend_api.identity.application.answer_slots import AnswerSlots
from backend_api.identity.application.authenticate import Caller
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


def address_of(request: Request) -> str:
    """The key of the calling host's address, as a trusted proxy names it."""
    return address_key(request.client.host) if request.client else "unknown"
