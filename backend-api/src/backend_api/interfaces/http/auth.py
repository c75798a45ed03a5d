"""Accounts: register, log in, refresh, who am I, log out."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from backend_api.interfaces.http.auth_schemas import (
    AuthStatusBody,
    GrantBody,
    LogInBody,
    LogOutBody,
    MeBody,
    RefreshBody,
    RegisterBody,
)
from backend_api.interfaces.http.caller import CurrentCaller
from backend_api.interfaces.http.use_cases import Calls, Options

router = APIRouter(prefix="/api/auth", tags=["accounts"])


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"


@router.post("/register", status_code=201, responses={403: {}, 409: {}, 429: {}})
async def register(body: RegisterBody, request: Request, calls: Calls) -> GrantBody:
    """Make an account and log in. The first user is admin."""
    grant = await calls.register(body.username, body.password, body.email, address=_address(request))
    return GrantBody.of(grant)


@router.post("/login", responses={401: {}, 429: {}})
async def log_in(body: LogInBody, request: Request, calls: Calls) -> GrantBody:
    """Log in with name and password."""
    return GrantBody.of(await calls.log_in(body.username, body.password, address=_address(request)))


@router.post("/refresh", responses={401: {}, 429: {}})
async def refresh(body: RefreshBody, request: Request, calls: Calls) -> GrantBody:
    """Trade a refresh token for new tokens; it holds once."""
    return GrantBody.of(await calls.refresh(body.refresh_token, address=_address(request)))


@router.post("/logout", status_code=204)
async def log_out(caller: CurrentCaller, calls: Calls, body: LogOutBody | None = None) -> Response:
    """End this log-in."""
    await calls.log_out(caller.user.id, caller.family, body.refresh_token if body else None)
    return Response(status_code=204)


@router.post("/logout-all", status_code=204)
async def log_out_everywhere(caller: CurrentCaller, calls: Calls, body: LogOutBody | None = None) -> Response:
    """End every log-in of this user."""
    del body
    await calls.log_out.everywhere(caller.user.id)
    return Response(status_code=204)


@router.get("/me")
async def me(caller: CurrentCaller) -> MeBody:
    """The user of this token."""
    return MeBody.model_validate(caller.user)


@router.get("/status")
async def status(calls: Calls, options: Options) -> AuthStatusBody:
    """How to log in here."""
    return AuthStatusBody(
        mode="local" if options.is_local else "password",
        has_users=await calls.users.has_any(),
        registration_open=calls.register.is_open,
    )
