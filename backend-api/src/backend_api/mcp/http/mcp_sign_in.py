"""Signing in at MCP servers: begun on our page, completed by the browser that returns from the authorization server."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Request, Response, status
from starlette.responses import HTMLResponse

from backend_api.identity.http.caller import CurrentCaller
from backend_api.identity.http.page_cookie import is_own_page
from backend_api.kit.errors import ConflictError, NotFoundError, UnavailableError
from backend_api.kit.http.ports import Options, WebOptions, port
from backend_api.kit.http.schemas import AnswerBody
from backend_api.kit.http.server_origin import server_origin
from backend_api.mcp.application.sign_in_server import SignInAnswer, SignInMcpServer
from backend_api.mcp.domain.sign_in import PENDING_S, McpSignInError, digest_of
from backend_api.mcp.http.sign_in_page import headers_of, sign_in_page

router = APIRouter(prefix="/api/mcp", tags=["mcp"])
Name = Annotated[str, Path(max_length=100)]
CALLBACK = "/api/mcp/oauth/callback"
CLIENT_DOCUMENT = "/api/mcp/oauth/client.json"
CLIENT_NAME = "Deskmate"
DOCUMENT_AGE_S = 3_600
_MAX_CHARACTERS = 4_096


class OtherAddressError(ConflictError):
    """The request is not from a page of ours, or the browser would return to another address, without our cookie."""

    code = "mcp_sign_in_elsewhere"


class SignInBody(AnswerBody):
    url: str


@router.post("/{server}/sign-in", responses={409: {}})
async def sign_in_at_mcp_server(
    server: Name,
    request: Request,
    response: Response,
    caller: CurrentCaller,
    sign_in_mcp_server: Annotated[SignInMcpServer, port("sign_in_mcp_server")],
    options: Options,
) -> SignInBody:
    """Begin to sign in at a server that requires it, and return the address to open. Only this server's own page can,
    as the browser has to return to it."""
    if not is_own_page(request):
        raise OtherAddressError("Sign in on this server's own page, in the settings: the browser comes back to it.")
    redirect_uri = _origin(request, options) + CALLBACK
    document = _document_url(options) or ""
    begun = await sign_in_mcp_server.begin(caller.user.id, server, redirect_uri, document)
    cookie = _cookie_of(begun.digest, request, options)
    response.set_cookie(
        cookie.name,
        begun.browser,
        max_age=PENDING_S,
        path=cookie.path,
        secure=cookie.is_secure,
        httponly=True,
        samesite="lax",
    )
    return SignInBody(url=begun.url)


@router.delete("/{server}/sign-in", status_code=status.HTTP_204_NO_CONTENT)
async def sign_out_of_mcp_server(
    server: Name, caller: CurrentCaller, sign_in_mcp_server: Annotated[SignInMcpServer, port("sign_in_mcp_server")]
) -> None:
    """Forget the caller's tokens for this server."""
    await sign_in_mcp_server.sign_out(caller.user.id, server)


class NoClientDocumentError(NotFoundError):
    """The document needs an https address that others can reach, set by PUBLIC_URL."""

    code = "not_found"


class ClientDocumentBody(AnswerBody):
    """The metadata of this server's OAuth client."""

    client_id: str
    client_name: str
    client_uri: str
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: Literal["none"]
    application_type: Literal["web"]


@router.get("/oauth/client.json", responses={404: {}})
async def client_document(response: Response, options: Options) -> ClientDocumentBody:
    """Read by authorization servers that use the address of this document as a client id (OAuth Client ID Metadata
    Document). Only a server whose PUBLIC_URL begins with https has one."""
    url = _document_url(options)
    if url is None:
        raise NoClientDocumentError("This server has no public https address: set PUBLIC_URL.")
    response.headers["Cache-Control"] = f"public, max-age={DOCUMENT_AGE_S}"
    return ClientDocumentBody(
        client_id=url,
        client_name=CLIENT_NAME,
        client_uri=options.public_url,
        redirect_uris=[options.public_url + CALLBACK],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
        application_type="web",
    )


@router.get("/oauth/callback", response_class=HTMLResponse, responses={400: {"content": {"text/html": {}}}})
async def end_sign_in_at_mcp_server(
    request: Request, sign_in_mcp_server: Annotated[SignInMcpServer, port("sign_in_mcp_server")], options: Options
) -> HTMLResponse:
    """The address a browser returns to from an authorization server. Its `state` identifies the sign-in, once and for
    ten minutes, and only in the browser that began it; the answer is a page for people."""
    parameters = {name: value[:_MAX_CHARACTERS] for name, value in request.query_params.items()}
    cookie = _cookie_of(digest_of(parameters.get("state", "")), request, options)
    answer = SignInAnswer(
        state=parameters.get("state", ""),
        browser=request.cookies.get(cookie.name, ""),
        code=parameters.get("code", ""),
        issuer=parameters.get("iss"),
        error=parameters.get("error", ""),
    )
    language, nonce = request.headers.get("accept-language", ""), secrets.token_urlsafe(16)
    try:
        name = await sign_in_mcp_server.finish(answer)
    except McpSignInError as error:
        page, code = sign_in_page(language, nonce, error.fault, error.detail), status.HTTP_400_BAD_REQUEST
    except UnavailableError as error:
        page, code = sign_in_page(language, nonce, "failed", error.detail), status.HTTP_503_SERVICE_UNAVAILABLE
    else:
        page, code = sign_in_page(language, nonce, None, name), status.HTTP_200_OK
    shown = HTMLResponse(page, status_code=code, headers=headers_of(nonce))
    shown.delete_cookie(cookie.name, path=cookie.path, secure=cookie.is_secure, httponly=True, samesite="lax")
    return shown


def _document_url(options: WebOptions) -> str | None:
    return options.public_url + CLIENT_DOCUMENT if options.public_url.startswith("https://") else None


@dataclass(frozen=True, slots=True)
class _Cookie:
    name: str
    path: str
    is_secure: bool


def _cookie_of(digest: str, request: Request, options: WebOptions) -> _Cookie:
    """The cookie of one sign-in, as several may be under way.

    With https its name has the `__Host-` prefix, so only this very host can set it. Otherwise a page on the same domain
    could plant the cookie of a sign-in that somebody else began, and that person would get the access this browser's
    user allows.
    """
    name = f"mcp-sign-in-{digest[:16]}"
    if (options.public_url or request.url.scheme).startswith("https"):
        return _Cookie(f"__Host-{name}", "/", is_secure=True)
    return _Cookie(name, CALLBACK, is_secure=False)


def _origin(request: Request, options: WebOptions) -> str:
    """The origin the browser returns to. Raises `OtherAddressError`."""
    origin = options.public_url or server_origin(request.scope, options)
    if not origin:
        raise OtherAddressError("This server's own address is not set: set PUBLIC_URL to sign in to MCP servers.")
    here = request.headers.get("origin") or f"{request.url.scheme}://{request.headers.get('host', '')}"
    if urlsplit(here).netloc.lower() != urlsplit(origin).netloc.lower():
        raise OtherAddressError(f"Open this page at {origin} to sign in: the browser comes back to that address.")
    return origin
