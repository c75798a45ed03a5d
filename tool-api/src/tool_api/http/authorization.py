"""The token check of the routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from contracts.sandboxes import Scope
from tool_api.access import Access, Grant

BearerToken = Annotated[
    HTTPAuthorizationCredentials | None, Security(HTTPBearer(auto_error=False, description="An endpoint token."))
]


def grant_of(request: Request) -> Grant:
    """The grant of a request: the one dependency every route but health passes through."""
    access: Access = request.app.state.services.access
    return access.verify_header(request.headers.get("authorization"))


def require(scope: Scope) -> Callable[[Request], Awaitable[Grant]]:
    """A dependency that requires a token with this scope."""

    async def dependency(request: Request, _: BearerToken = None) -> Grant:
        grant = grant_of(request)
        grant.demand(scope)
        return grant

    return dependency
