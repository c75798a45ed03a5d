"""Signing in with OAuth at MCP servers that require it. Each user signs in separately, at the deployment's servers
too."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from backend_api.kit.errors import ConflictError
from backend_api.kit.ids import UserId
from backend_api.mcp.domain.entity import McpServer, McpTarget, Source
from backend_api.settings.domain.entity import Sealed

PENDING_S = 600
"""Seconds a person has to sign in."""
MAX_SCOPE_CHARACTERS = 2_000
"""The limit for all scopes of one sign-in together."""
MAX_ONE_SCOPE = 200
ClientAuth = Literal["none", "client_secret_post", "client_secret_basic"]
"""The method by which a client authenticates at the token endpoint."""


SignInFault = Literal["expired", "other_browser", "denied", "changed", "failed"]
"""The kind of reason that a sign-in was not completed for."""


class McpSignInError(ConflictError):
    """Signing in at a server can't be begun or finished; the message says why, without any secret."""

    code = "mcp_sign_in_failed"

    def __init__(self, detail: str, fault: SignInFault = "failed") -> None:
        super().__init__(detail)
        self.fault: SignInFault = fault


class McpNoSignInError(McpSignInError):
    """The server offers no sign-in."""

    code = "mcp_no_sign_in"


class McpClientNeededError(McpSignInError):
    """The authorization server does not register clients by itself: somebody has to configure our client id."""

    code = "mcp_client_needed"


class RenewalRefusedError(Exception):
    """The refresh token is not accepted any more: the user has to sign in again."""


class RenewalFailedError(Exception):
    """The renewal could not be requested. The token may still be valid; the message is for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """Our client at an authorization server, with the endpoints to get tokens and, if there is one, to revoke them.
    `resource` names the MCP server there."""

    issuer: str
    token_endpoint: str
    resource: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    auth: ClientAuth = "none"
    revocation_endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The tokens an authorization server issued. Without `expires_at` their lifetime is unknown."""

    client: OAuthClient
    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """The `url` a person is sent to, and the values kept meanwhile. `tells_issuer`: the answer must name its issuer."""

    url: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    client: OAuthClient
    tells_issuer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSignIn:
    """A sign-in under way, to be completed by the browser that has `browser` in a cookie."""

    user_id: UserId
    name: str
    source: Source
    binding: str
    redirect_uri: str
    browser: str = field(repr=False)
    verifier: str = field(repr=False)
    client: OAuthClient
    tells_issuer: bool = False
    scopes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A user's sign-in at one server, at `at`: the tokens are `sealed`; without them the server asks the user to sign
    in. It is valid for the server that `binding` identifies. Each change gets a new `version`.

    `scopes` are those that the server requested later, separated by spaces: each sign-in requests them too.
    `lacks_scopes`: the server requested some of them since the user signed in."""

    user_id: UserId
    server: str
    binding: str
    version: str
    at: datetime
    sealed: Sealed | None = None
    scopes: str = ""
    lacks_scopes: bool = False


class SignIns(Protocol):
    """The sign-ins of each user. All methods raise `StoreUnavailableError`."""

    async def of(self, user_id: UserId) -> Mapping[str, SignIn]:
        """The user's sign-ins by `server_key`."""
        ...

    async def put(self, sign_in: SignIn) -> None:
        """Stores a sign-in, whatever was there. Once it returns, the lease of every new run of this user says that
        there are settings."""
        ...

    async def replace(self, former: SignIn | None, fresh: SignIn) -> bool:
        """Replaces one by the other and ends its claim; False if it has changed meanwhile."""
        ...

    async def lack(self, sign_in: SignIn, scopes: str) -> bool:
        """Records all the scopes the server requests by now. A renewal under way continues; False if the sign-in has
        changed."""
        ...

    async def claim(self, sign_in: SignIn, for_s: float) -> bool:
        """Claims the renewal exclusively for so long; False if the sign-in has changed, or is claimed."""
        ...

    async def delete(self, user_id: UserId, server: str) -> SignIn | None:
        """Deletes the sign-in and returns it, or None if there was none."""
        ...


class SealedSignIns(Protocol):
    """The sealed sign-ins of all users. All methods raise `StoreUnavailableError`."""

    def sealed_under_other_key(self, key_id: str) -> AsyncIterator[SignIn]:
        """Sign-ins sealed under another key than this one."""
        ...

    async def reseal(self, sign_in: SignIn, fresh: Sealed) -> bool:
        """Replaces the sealed tokens; False if they have changed meanwhile."""
        ...


class PendingSignIns(Protocol):
    """Sign-ins under way, until they time out. All methods raise `UnavailableError`."""

    async def keep(self, digest: str, sealed: Sealed, *, ttl_s: int) -> None:
        """Stores a pending sign-in under the digest of its state."""
        ...

    async def take(self, digest: str) -> Sealed | None:
        """Takes the pending sign-in, which works once and until it times out."""
        ...


class Authorizer(Protocol):
    """Talks to servers and their authorization servers, whose answers are untrusted: bounded and checked."""

    async def begin(
        self, target: McpTarget, user_id: UserId, redirect_uri: str, *, scopes: str = "", client_document: str = ""
    ) -> AuthorizationRequest:
        """Finds the authorization server of this server and gets a client there: the one described at
        `client_document`, an address of ours, where that is supported. These scopes are requested besides those the
        server names. Raises `McpSignInError`."""
        ...

    async def redeem(self, pending: PendingSignIn, code: str) -> Grant:
        """Exchanges the code for tokens. Raises `McpSignInError`."""
        ...

    async def renew(self, source: Source, user_id: UserId, grant: Grant) -> Grant:
        """Renews the tokens by the refresh token. Raises `RenewalRefusedError`, `RenewalFailedError`."""
        ...

    async def revoke(self, source: Source, user_id: UserId, grant: Grant) -> None:
        """Revokes the tokens (RFC 7009), if the authorization server supports it. Raises `McpSignInError`."""
        ...


class AccessTokens(Protocol):
    """The access tokens of one connection, which act for its user. All methods raise `UnavailableError`."""

    async def current(self) -> str | None:
        """The valid token, or None."""
        ...

    async def after_refusal(self, refused: str | None, *, asks_to_sign_in: bool) -> str | None:
        """Another token to try after the server refused `refused`, or a request without any; `asks_to_sign_in` says
        that it sent a challenge. None: the user has to sign in, if the server asks for that."""
        ...

    async def accepted(self) -> None:
        """The server answered without a token: it does not require a sign-in, or no longer."""
        ...

    async def lacks(self, scopes: str) -> bool:
        """Records that the token is valid but the server requires these scopes too: the next sign-in requests them.
        False if the user has signed in with them already, so that doing it again would not help."""
        ...


class NoAccessTokens:
    """`AccessTokens` of a server at which nobody signs in."""

    async def current(self) -> str | None:
        return None

    async def after_refusal(self, refused: str | None, *, asks_to_sign_in: bool) -> str | None:
        del refused, asks_to_sign_in
        return None

    async def accepted(self) -> None:
        """Nothing is stored, so there is nothing to delete."""

    async def lacks(self, scopes: str) -> bool:
        del scopes
        return False


def scopes_of(said: str) -> str:
    """The scopes in an untrusted text that can be requested (RFC 6749, 3.3), each once."""
    found = [one for one in said.split(" ") if one and len(one) <= MAX_ONE_SCOPE and _is_scope(one)]
    return " ".join(dict.fromkeys(found))


def with_scopes(known: str, more: str) -> str:
    """Both lists of scopes in this order, each scope once, as many as fit in the limit."""
    scopes = dict.fromkeys(known.split())
    size = len(" ".join(scopes))
    for one in more.split():
        if one not in scopes and size + 1 + len(one) <= MAX_SCOPE_CHARACTERS:
            scopes[one] = None
            size += 1 + len(one)
    return " ".join(scopes)


def _is_scope(text: str) -> bool:
    return all("!" <= character <= "~" and character not in '"\\' for character in text)


def digest_of(state: str) -> str:
    """The key under which the pending sign-in with this state is stored."""
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()


def server_key(server: McpServer) -> str:
    """The key of a server, which distinguishes a user's from the deployment's of the same name."""
    return f"{server.source}:{server.name}"


def binding_of(target: McpTarget) -> str:
    """Identifies the address and client that tokens are issued for: they are valid for no other."""
    filled = target.filled
    text = "\n".join([filled.url, filled.client_id, *([filled.issuer] if filled.issuer else [])])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def may_sign_in(server: McpServer) -> bool:
    """Whether users can sign in: the server has an address, and its headers don't set Authorization."""
    return server.transport != "stdio" and not any(name.lower() == "authorization" for name in server.headers)
