"""Signing in, by OAuth, at MCP servers that ask for it: each user by itself, also at those of everybody."""

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
"""A person has so long to sign in."""
MAX_SCOPE_CHARACTERS = 2_000
"""Of all scopes that one sign-in asks for."""
MAX_ONE_SCOPE = 200
ClientAuth = Literal["none", "client_secret_post", "client_secret_basic"]
"""How a client shows at the token endpoint who it is."""


SignInFault = Literal["expired", "other_browser", "denied", "changed", "failed"]
"""Why a sign-in that was begun did not come to its end."""


class McpSignInError(ConflictError):
    """Signing in at a server can't be begun or finished; the message says why, without any secret."""

    code = "mcp_sign_in_failed"

    def __init__(self, detail: str, fault: SignInFault = "failed") -> None:
        super().__init__(detail)
        self.fault: SignInFault = fault


class McpNoSignInError(McpSignInError):
    """Nobody signs in at this server, as far as it says."""

    code = "mcp_no_sign_in"


class McpClientNeededError(McpSignInError):
    """Where its users sign in nobody is registered by itself: somebody has to say what we are there."""

    code = "mcp_client_needed"


class RenewalRefusedError(Exception):
    """What was given is given no more: the user has to sign in again."""


class RenewalFailedError(Exception):
    """It could not be asked for. What was given may hold still; the message is for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """What we are at an authorization server, and where it gives tokens and, if it does, takes them back. `resource`
    names the MCP server there."""

    issuer: str
    token_endpoint: str
    resource: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    auth: ClientAuth = "none"
    revocation_endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What an authorization server gave. Without `expires_at` it did not say until when it holds."""

    client: OAuthClient
    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """What a person is sent to by `url`, and what is kept meanwhile. `tells_issuer`: the answer has to name it."""

    url: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    client: OAuthClient
    tells_issuer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSignIn:
    """A sign-in that was begun, to be ended by the browser that has `browser` in a cookie."""

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
    """How a user stands with one server, at `at`: what was given is `sealed`; without that the server asks the user to
    sign in. It holds for the server as `binding` names it. Each change has a `version` of its own.

    `scopes` are those that the server asked for in the middle, divided by spaces: each sign-in asks for them, too.
    `lacks_scopes`: it asked for some of them since the user signed in."""

    user_id: UserId
    server: str
    binding: str
    version: str
    at: datetime
    sealed: Sealed | None = None
    scopes: str = ""
    lacks_scopes: bool = False


class SignIns(Protocol):
    """Of each user. All raise `StoreUnavailableError`."""

    async def of(self, user_id: UserId) -> Mapping[str, SignIn]:
        """By `server_key`."""
        ...

    async def put(self, sign_in: SignIn) -> None:
        """Whatever stood there. Once it returns, every run that begins in a session of this user is told by its lease
        that there are settings."""
        ...

    async def replace(self, former: SignIn | None, fresh: SignIn) -> bool:
        """Put one in the place of the other, and end its claim; False where that has changed meanwhile."""
        ...

    async def lack(self, sign_in: SignIn, scopes: str) -> bool:
        """The server asks for these, all there are by now. Whoever renews it meanwhile goes on; False where it has
        changed."""
        ...

    async def claim(self, sign_in: SignIn, for_s: float) -> bool:
        """Whoever is told True renews it, and nobody else for so long; False where it has changed, or is claimed."""
        ...

    async def delete(self, user_id: UserId, server: str) -> SignIn | None:
        """What stood there; None where there was none."""
        ...


class SealedSignIns(Protocol):
    """What is sealed of all users. All raise `StoreUnavailableError`."""

    def sealed_under_other_key(self, key_id: str) -> AsyncIterator[SignIn]:
        """Those that are not under this key."""
        ...

    async def reseal(self, sign_in: SignIn, fresh: Sealed) -> bool:
        """Put this in the place of what is sealed; False where that has changed meanwhile."""
        ...


class PendingSignIns(Protocol):
    """Sign-ins that were begun, for as long as a person has. All raise `UnavailableError`."""

    async def keep(self, digest: str, sealed: Sealed, *, ttl_s: int) -> None:
        """Under the digest of its state."""
        ...

    async def take(self, digest: str) -> Sealed | None:
        """The first time, and in time."""
        ...


class Authorizer(Protocol):
    """Asks servers and their authorization servers. What these answer is anybody's word: bounded, and checked."""

    async def begin(
        self, target: McpTarget, user_id: UserId, redirect_uri: str, *, scopes: str = "", client_document: str = ""
    ) -> AuthorizationRequest:
        """Find out who signs users in for this server, and become a client there: the one that `client_document`, an
        address of ours, describes, where that can be used. These scopes are asked for with those that it names. Raises
        `McpSignInError`."""
        ...

    async def redeem(self, pending: PendingSignIn, code: str) -> Grant:
        """What the code stands for. Raises `McpSignInError`."""
        ...

    async def renew(self, source: Source, user_id: UserId, grant: Grant) -> Grant:
        """By its refresh token. Raises `RenewalRefusedError`, `RenewalFailedError`."""
        ...

    async def revoke(self, source: Source, user_id: UserId, grant: Grant) -> None:
        """Give back what was given (RFC 7009), where the authorization server takes it. Raises `McpSignInError`."""
        ...


class AccessTokens(Protocol):
    """The tokens by which one connection speaks for its user. All raise `UnavailableError`."""

    async def current(self) -> str | None:
        """The one that holds, None where there is none."""
        ...

    async def after_refusal(self, refused: str | None, *, asks_to_sign_in: bool) -> str | None:
        """The server did not take `refused`, or that there was none, and `asks_to_sign_in` or just refuses: another one
        that it may take. None: the user has to sign in, if the server asks for that."""
        ...

    async def accepted(self) -> None:
        """The server answered without any token: it does not ask to sign in, or no longer."""
        ...

    async def lacks(self, scopes: str) -> bool:
        """The token holds, but the server asks for these scopes as well: the next sign-in does so. False where the
        user has signed in with them, so that to do it again would be of no use."""
        ...


class NoAccessTokens:
    """`AccessTokens` of a server at which nobody signs in."""

    async def current(self) -> str | None:
        return None

    async def after_refusal(self, refused: str | None, *, asks_to_sign_in: bool) -> str | None:
        del refused, asks_to_sign_in
        return None

    async def accepted(self) -> None:
        """Nothing was kept."""

    async def lacks(self, scopes: str) -> bool:
        del scopes
        return False


def scopes_of(said: str) -> str:
    """Those of a text from elsewhere that can be asked for (RFC 6749, 3.3), each once."""
    found = [one for one in said.split(" ") if one and len(one) <= MAX_ONE_SCOPE and _is_scope(one)]
    return " ".join(dict.fromkeys(found))


def with_scopes(known: str, more: str) -> str:
    """Both, in this order, each once; those with which they would be too many are left out."""
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
    """Under which what was begun with this state is kept."""
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()


def server_key(server: McpServer) -> str:
    """Tells a server of the user from one of everybody that has its name."""
    return f"{server.source}:{server.name}"


def binding_of(target: McpTarget) -> str:
    """What was given to one address and client is good for no other."""
    filled = target.filled
    text = "\n".join([filled.url, filled.client_id, *([filled.issuer] if filled.issuer else [])])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def may_sign_in(server: McpServer) -> bool:
    """At one with an address, unless its configuration says by what it is spoken to."""
    return server.transport != "stdio" and not any(name.lower() == "authorization" for name in server.headers)
