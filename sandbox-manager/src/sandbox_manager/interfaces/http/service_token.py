"""The check of the service token, which every call needs."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from sandbox_manager.domain.errors import UnauthenticatedError
from sandbox_manager.interfaces.http.use_cases import Wired

_Bearer = Annotated[
    HTTPAuthorizationCredentials | None, Security(HTTPBearer(auto_error=False, description="The service token."))
]


async def require_service_token(request: Request, wired: Wired, _documented: _Bearer = None) -> None:
    """Raise `UnauthenticatedError` unless the bearer token is the service token; constant in time."""
    scheme, _space, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.encode(), wired.service_token.encode()):
        raise UnauthenticatedError("The service token is required as a bearer token.")
