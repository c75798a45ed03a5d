"""Routes for accounts: register, log in, refresh, current user, change the password, log out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from backend_api.identity.application.authenticate import Authenticate, Caller
from backend_api.identity.application.change_password import ChangePassword
from backend_api.identity.application.log_in import LogIn
from backend_api.identity.application.log_out import LogOut
from backend_api.identity.application.refresh import Refresh
from backend_api.identity.application.register import Register
from backend_api.identity.domain.entity import Grant
from backend_api.identity.domain.errors import TokenInvalidError
from backend_api.identity.http.auth_schemas import (
    AuthStatusBody,
    GrantBody,
    LogInBody,
    LogOutBody,
    MeBody,
    PasswordBody,
    RefreshBody,
    RegisterBody,
)
from backend_api.identity.http.caller import Bearer, CurrentCaller, address_of
from backend_api.identity.http.page_cookie import (
    clear_cookie,
    is_own_page,
    read_cookies,
    require_own_page,
    set_cookie,
)
from backend_api.identity.ports import Users
from backend_api.kit.errors import InvalidError, UnauthenticatedError
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import Options, port
from backend_api.kit.ids import UserId

router = APIRouter(prefix="/api/auth", tags=["accounts"])
_CREDENTIALS = {"username": "anna", "password": "a long pass phrase"}


def _grant_response(request: Request, response: Response, grant: Grant, *, by_cookie: bool) -> GrantBody:
    response.headers["Cache-Control"] = "no-store"
    if by_cookie:
        set_cookie(request, response, grant)
    return GrantBody.of(grant, shows_refresh_token=not by_cookie)


@router.post(
    "/register", status_code=201, responses={403: {}, 409: {}, 429: {}}, openapi_extra=with_example(_CREDENTIALS)
)
async def register(
    body: RegisterBody, request: Request, response: Response, register: Annotated[Register, port("register")]
) -> GrantBody:
    """Create an account and log in. The first user becomes an administrator."""
    if body.cookie:
        require_own_page(request)
    grant = await register(body.username, body.password, body.email, address=address_of(request), for_page=body.cookie)
    return _grant_response(request, response, grant, by_cookie=body.cookie)


@router.post("/login", responses={401: {}, 403: {}, 429: {}}, openapi_extra=with_example(_CREDENTIALS))
async def log_in(
    body: LogInBody, request: Request, response: Response, log_in: Annotated[LogIn, port("log_in")]
) -> GrantBody:
    """Log in with user name and password."""
    if body.cookie:
        require_own_page(request)
    grant = await log_in(body.username, body.password, address=address_of(request), for_page=body.cookie)
    return _grant_response(request, response, grant, by_cookie=body.cookie)


@router.post(
    "/refresh",
    responses={401: {}, 403: {}, 429: {}},
    openapi_extra=with_example({"refresh_token": "the one that the log-in gave"}),
)
async def refresh(
    body: RefreshBody, request: Request, response: Response, refresh: Annotated[Refresh, port("refresh")]
) -> GrantBody:
    """Exchange a refresh token for new tokens. Each refresh token can be used once."""
    by_cookie = body.cookie or body.refresh_token is None
    brought = [body.refresh_token] if body.refresh_token else read_cookies(request)
    if not brought and not body.cookie:
        raise InvalidError("Field required", field="body.refresh_token")
    if by_cookie:
        require_own_page(request)
    if not brought:
        raise TokenInvalidError("There is no refresh token. Log in again.")
    user_id = UserId(body.user_id) if body.user_id else None
    grant = await refresh(*brought, address=address_of(request), for_page=by_cookie, user_id=user_id)
    return _grant_response(request, response, grant, by_cookie=by_cookie)


@router.post(
    "/password",
    responses={403: {}, 409: {}, 429: {}},
    openapi_extra=with_example({"old_password": "a long pass phrase", "new_password": "a longer pass phrase"}),
)
async def change_password(
    body: PasswordBody,
    caller: CurrentCaller,
    request: Request,
    response: Response,
    change_password: Annotated[ChangePassword, port("change_password")],
) -> GrantBody:
    """Change the password. All log-ins of this user end; the response carries the tokens of a new one."""
    if body.cookie:
        require_own_page(request)
    grant = await change_password(caller, body.old_password, body.new_password, for_page=body.cookie)
    return _grant_response(request, response, grant, by_cookie=body.cookie)


@router.post(
    "/logout",
    status_code=204,
    responses={401: {}},
    openapi_extra=with_example({"refresh_token": "the one that the log-in gave"}),
)
async def log_out(
    request: Request,
    log_out: Annotated[LogOut, port("log_out")],
    authenticate: Annotated[Authenticate, port("authenticate")],
    bearer: Bearer,
    body: LogOutBody | None = None,
) -> Response:
    """End the log-in of the token, or of the page's cookie."""
    cookies = read_cookies(request) if is_own_page(request) else []
    caller = await _caller_to_log_out(authenticate, bearer, has_cookie=bool(cookies))
    if caller is None:
        for cookie in cookies:
            await log_out.by_token(cookie)
    else:
        named = body.refresh_token if body else None
        await log_out(caller.user.id, caller.family, [named] if named else cookies)
    return _log_out_response(request)


async def _caller_to_log_out(authenticate: Authenticate, bearer: str | None, *, has_cookie: bool) -> Caller | None:
    """The caller, or None if only the page's cookie identifies the log-in: the cookie outlives the access token, and
    must end its log-in all the same."""
    if bearer is None and has_cookie:
        return None
    try:
        return await authenticate(bearer)
    except UnauthenticatedError:
        if not has_cookie:
            raise
        return None


def _log_out_response(request: Request) -> Response:
    response = Response(status_code=204)
    clear_cookie(request, response)
    return response


@router.post("/logout-all", status_code=204)
async def log_out_everywhere(
    caller: CurrentCaller, request: Request, log_out: Annotated[LogOut, port("log_out")]
) -> Response:
    """End all log-ins of this user."""
    await log_out.everywhere(caller.user.id)
    return _log_out_response(request)


@router.get("/me")
async def me(caller: CurrentCaller) -> MeBody:
    """Return the user of this token."""
    return MeBody.model_validate(caller.user)


@router.get("/status")
async def status(
    register: Annotated[Register, port("register")],
    authenticate: Annotated[Authenticate, port("authenticate")],
    users: Annotated[Users, port("users")],
    options: Options,
) -> AuthStatusBody:
    """Return how to log in to this server, its limits, and the local user if there is no log-in."""
    local = await authenticate(None) if options.is_local else None
    return AuthStatusBody(
        mode="local" if options.is_local else "password",
        has_users=await users.has_any(),
        registration_open=register.is_open,
        max_upload_bytes=options.max_upload_bytes,
        user=MeBody.model_validate(local.user) if local else None,
    )
