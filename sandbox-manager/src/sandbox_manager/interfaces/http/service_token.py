"""Who may call: only the one with the service token."""

from __future__ import annotations

import hmac

from fastapi import Request

from sandbox_manager.domain.errors import UnauthenticatedError
from sandbox_manager.interfaces.http.use_cases import Wired


async def require_service_token(request: Request, wired: Wired) -> None:
    """Raise `UnauthenticatedError` unless the bearer token is the service token; constant in time."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.encode(), wired.service_token.encode()):
        raise UnauthenticatedError("The sandbox manager asks for its service token as a bearer token.")
