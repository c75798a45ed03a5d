"""An authorization server and an MCP server that takes its tokens alone, both on loopback, by the official package."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl, AnyUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from support.listening import on_loopback, serving
from support.mcp_servers import Ordinary
from support.servers import free_port

SCOPE = "notes"
MORE = "notes:write"
"""A scope that may be asked for besides."""
METADATA = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource/mcp"
Answer = Callable[[], Response]


@dataclass(slots=True)
class Given:
    """What one sign-in was given; each renewal is counted."""

    client_id: str
    resource: str | None
    scopes: list[str] = field(default_factory=list[str])
    access: set[str] = field(default_factory=set[str])
    refresh: str = ""
    is_over: bool = False


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Everybody consents at once, unless it `denies`. A refresh token is good once, and one that comes twice ends all
    that was given with it."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.given: list[Given] = []
        self.used: dict[str, Given] = {}
        self.renewals = 0
        self.expires_s = 3600
        self.denies = False
        self.issuer_told: str | None = None
        self.before_renewal: Callable[[], Any] | None = None
        self.before_token: Callable[[], Awaitable[Any]] | None = None

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        told = {"state": params.state, "iss": self.issuer_told}
        if self.denies:
            return construct_redirect_uri(str(params.redirect_uri), error="access_denied", **told)
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, **told)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        del client
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        if self.before_token is not None:
            await self.before_token()
        del self.codes[authorization_code.code]
        given = Given(
            client_id=client.client_id, resource=authorization_code.resource, scopes=authorization_code.scopes
        )
        self.given.append(given)
        return self._tokens(given)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        if (twice := self.used.get(refresh_token)) is not None:
            twice.is_over = True
        found = next((one for one in self.given if one.refresh == refresh_token and not one.is_over), None)
        return RefreshToken(token=refresh_token, client_id=client.client_id, scopes=[SCOPE]) if found else None

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del client, scopes
        if self.before_renewal is not None:
            await self.before_renewal()
        given = next((one for one in self.given if one.refresh == refresh_token.token), None)
        if given is None:
            raise TokenError("invalid_grant")
        self.renewals += 1
        self.used[refresh_token.token] = given
        given.access.clear()
        return self._tokens(given)

    async def load_access_token(self, token: str) -> AccessToken | None:
        given = next((one for one in self.given if token in one.access and not one.is_over), None)
        if given is None:
            return None
        return AccessToken(token=token, client_id=given.client_id, scopes=[SCOPE], resource=given.resource)

    async def verify_token(self, token: str) -> AccessToken | None:
        """As the MCP server asks."""
        return await self.load_access_token(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        raise NotImplementedError

    def _tokens(self, given: Given) -> OAuthToken:
        access, given.refresh = f"access-{secrets.token_urlsafe(24)}", f"refresh-{secrets.token_urlsafe(24)}"
        given.access.add(access)
        return OAuthToken(access_token=access, refresh_token=given.refresh, expires_in=self.expires_s, scope=SCOPE)


@dataclass(slots=True)
class OAuthServers:
    """Both. `says`: what is answered by path instead, of either; `asked`: the paths that were asked for."""

    url: str
    issuer: str
    provider: Provider = field(default_factory=Provider)
    ordinary: Ordinary = field(default_factory=Ordinary)
    says: dict[str, Answer] = field(default_factory=dict[str, Answer])
    asked: list[str] = field(default_factory=list[str])
    revoked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What was given back: of which kind, and the token."""

    @property
    def hosts(self) -> list[str]:
        """As MCP_ALLOWED_HOSTS names them."""
        return [url.split("/")[2] for url in (self.url, self.issuer)]

    @property
    def tokens(self) -> list[str]:
        """All that must be read nowhere."""
        of = self.provider
        access = [token for given in of.given for token in given.access]
        known = [client.client_secret or "" for client in of.clients.values()]
        return [one for one in (*access, *(given.refresh for given in of.given), *of.used, *known) if one]

    def metadata(self, **instead: Any) -> Answer:
        """The authorization server's, with other fields."""
        told = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "revocation_endpoint": f"{self.issuer}/revoke",
            "response_types_supported": ["code"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "code_challenge_methods_supported": ["S256"],
            **instead,
        }
        return lambda: JSONResponse({name: value for name, value in told.items() if value is not None})

    def wants(self, scopes: str | None, error: str = "insufficient_scope") -> None:
        """From now on the MCP server refuses all for its scopes (RFC 6750, 3.1)."""
        said = f'Bearer error="{error}"' + (f', scope="{scopes}"' if scopes is not None else "")
        self.says["/mcp"] = lambda: JSONResponse({}, status_code=403, headers={"WWW-Authenticate": said})

    def add_client(self, client_id: str, client_secret: str, redirect_uri: str) -> None:
        """One that somebody registered by hand."""
        self.provider.clients[client_id] = OAuthClientInformationFull(
            client_id=client_id,
            client_secret=client_secret,
            redirect_uris=[AnyUrl(redirect_uri)],
            token_endpoint_auth_method="client_secret_basic",
            scope=SCOPE,
        )

    async def revoke(self, request: Request) -> Response:
        """RFC 7009, of clients with a secret in the header or with none."""
        form = await request.form()
        token, kind = str(form["token"]), str(form["token_type_hint"])
        self.revoked.append((kind, token))
        for given in self.provider.given:
            given.access.discard(token)
            given.is_over = given.is_over or given.refresh == token
        return Response(status_code=200)

    async def consent(self, url: str) -> str:
        """As a person who says yes, or whatever the provider makes of it: where the browser is sent back to."""
        async with httpx.AsyncClient() as http:
            answer = await http.get(url)
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]


@asynccontextmanager
async def oauth_servers(transport: str = "http") -> AsyncGenerator[OAuthServers]:
    """Until the end of the block."""
    port = free_port()
    servers = OAuthServers(url=f"http://127.0.0.1:{port}/{'sse' if transport == 'sse' else 'mcp'}", issuer="")

    async def instead(request: Request, call_next: RequestResponseEndpoint) -> Response:
        servers.asked.append(request.url.path)
        said = servers.says.get(request.url.path)
        return said() if said is not None else await call_next(request)

    overridden = [Middleware(BaseHTTPMiddleware, dispatch=instead)]
    authorizing = Starlette(middleware=overridden)
    async with on_loopback(_server(authorizing)) as issuer:
        servers.issuer = issuer
        options = ClientRegistrationOptions(enabled=True, valid_scopes=[SCOPE, MORE], default_scopes=[SCOPE])
        authorizing.router.routes.extend(
            create_auth_routes(servers.provider, AnyHttpUrl(issuer), client_registration_options=options)
        )
        authorizing.router.routes.append(Route("/revoke", servers.revoke, methods=["POST"]))
        servers.says[METADATA] = servers.metadata()
        settings = AuthSettings(
            issuer_url=AnyHttpUrl(issuer),
            resource_server_url=AnyHttpUrl(servers.url),
            required_scopes=[SCOPE],
            validate_token_resource=True,
        )
        protected = servers.ordinary.server(auth=settings, token_verifier=servers.provider)
        app = protected.sse_app() if transport == "sse" else protected.streamable_http_app()
        # What passes on a stream of events as it comes.
        if transport == "http":
            app.add_middleware(BaseHTTPMiddleware, dispatch=instead)
        server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1))
        async with serving(server):
            yield servers


def _server(app: Starlette) -> uvicorn.Server:
    return uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
