"""Sign a user in at an MCP server that asks for it, and out again."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import UserId
from backend_api.mcp.application.revocation import revoke
from backend_api.mcp.application.user_servers import ServersOfUsers
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.domain.entity import McpTarget
from backend_api.mcp.domain.sign_in import (
    PENDING_S,
    Authorizer,
    McpNoSignInError,
    McpSignInError,
    OAuthClient,
    PendingSignIn,
    PendingSignIns,
    binding_of,
    digest_of,
    may_sign_in,
    server_key,
)
from backend_api.mcp.domain.user_servers import McpServerNotFoundError
from backend_api.settings.domain.errors import SecretUnreadableError

MOST_TRIES = 10
EXPIRED = "This sign-in has expired or was already used. Start it again in the settings."
OTHER_BROWSER = "This sign-in was started in another browser. Start it again in the settings of this one."
DENIED = "The sign-in was refused or cancelled there. Start it again to retry."
OTHER_ISSUER = "The response came from a different authorization server than the one that was asked."
CHANGED = "The MCP server was changed or deleted in the meantime. Start the sign-in again."
OWN_TOKEN = "Its headers already set Authorization: remove that header to sign in."
IS_PROGRAM = "It is a program in the computer of a conversation, which needs no sign-in."


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunSignIn:
    """The `url` for the person to open, in the browser that keeps `browser` in a cookie; `digest` is the key of the
    pending sign-in."""

    url: str
    digest: str
    browser: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAnswer:
    """The parameters a browser brings back; `browser` is the value of its cookie."""

    state: str
    browser: str
    code: str = ""
    issuer: str | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInMcpServer:
    """Signs a user in at an MCP server. The token is used from the user's next message on, in every process."""

    servers: ServersOfUsers
    sign_ins: SignInsOfUsers
    pending: PendingSignIns
    authorizer: Authorizer
    limiter: RateLimiter
    limits: Limits

    async def begin(self, user_id: UserId, name: str, redirect_uri: str, client_document: str = "") -> BegunSignIn:
        """Begins a sign-in. `client_document` is the public address of our client metadata. Raises
        `McpServerNotFoundError`, `McpSignInError`, `SecretsOffError`, `LimitError`, `UnavailableError`."""
        await self.limiter.hit(f"mcp-tests:{user_id}", limit=self.limits.key_tests_per_minute, window_s=60)
        target = await self._target(user_id, name)
        if not may_sign_in(target.server):
            raise McpNoSignInError(IS_PROGRAM if target.is_program else OWN_TOKEN)
        # Fails early if secrets can't be stored.
        self.sign_ins.box.seal("", bound_to="")
        scopes = await self._scopes(user_id, target)
        asked = await self.authorizer.begin(
            target, user_id, redirect_uri, scopes=scopes, client_document=client_document
        )
        pending = PendingSignIn(
            user_id=user_id,
            name=name,
            source=target.server.source,
            binding=binding_of(target),
            redirect_uri=redirect_uri,
            browser=secrets.token_urlsafe(32),
            verifier=asked.verifier,
            client=asked.client,
            tells_issuer=asked.tells_issuer,
            scopes=scopes,
        )
        digest = digest_of(asked.state)
        sealed = self.sign_ins.box.seal(json.dumps(asdict(pending)), bound_to=_binding(digest))
        await self.pending.keep(digest, sealed, ttl_s=PENDING_S)
        return BegunSignIn(url=asked.url, digest=digest, browser=pending.browser)

    async def finish(self, answer: SignInAnswer) -> str:
        """Finishes a sign-in and returns the server's name. Raises `McpSignInError`, `UnavailableError`."""
        pending = await self._take_pending(answer.state)
        if not secrets.compare_digest(pending.browser.encode(), answer.browser.encode("utf-8", "surrogatepass")):
            raise McpSignInError(OTHER_BROWSER, "other_browser")
        if answer.issuer != pending.client.issuer and (answer.issuer is not None or pending.tells_issuer):
            raise McpSignInError(OTHER_ISSUER)
        if answer.error or not answer.code:
            raise McpSignInError(DENIED, "denied")
        target = await self._require_unchanged(pending)
        grant = await self.authorizer.redeem(pending, answer.code)
        try:
            await self._require_unchanged(pending)
        except McpSignInError:
            await revoke(self.authorizer, target.server, pending.user_id, grant)
            raise
        given = self.sign_ins.given(pending.user_id, target, grant)
        await self.sign_ins.store.put(replace(given, scopes=pending.scopes))
        return pending.name

    async def sign_out(self, user_id: UserId, name: str) -> None:
        """Deletes and revokes the user's tokens; the server then asks to sign in again. Raises
        `McpServerNotFoundError`, `LimitError`, `StoreUnavailableError`."""
        await self.limiter.hit(f"settings:{user_id}", limit=self.limits.settings_per_minute, window_s=60)
        target = await self._target(user_id, name)
        # A token renewed meanwhile is read again, so that none is left unrevoked.
        for _ in range(MOST_TRIES):
            known = (await self.sign_ins.of(user_id)).get(server_key(target.server))
            if known is None or known.sealed is None:
                return
            if await self.sign_ins.store.replace(known, self.sign_ins.needed(user_id, target)):
                break
        else:
            await self.sign_ins.store.put(self.sign_ins.needed(user_id, target))
            return
        if (grant := self.sign_ins.grant(known, target)) is not None:
            await revoke(self.authorizer, target.server, user_id, grant)

    async def _scopes(self, user_id: UserId, target: McpTarget) -> str:
        """The scopes that the server requested while the user was signed in."""
        known = (await self.sign_ins.of(user_id)).get(server_key(target.server))
        return known.scopes if known is not None and known.binding == binding_of(target) else ""

    async def _target(self, user_id: UserId, name: str) -> McpTarget:
        target = await self.servers.find(user_id, name)
        if target is None:
            raise McpServerNotFoundError
        return target

    async def _take_pending(self, state: str) -> PendingSignIn:
        digest = digest_of(state)
        sealed = await self.pending.take(digest)
        if sealed is None:
            raise McpSignInError(EXPIRED, "expired")
        try:
            values = cast("dict[str, Any]", json.loads(self.sign_ins.box.open(sealed, bound_to=_binding(digest))))
        except SecretUnreadableError as error:
            raise McpSignInError(EXPIRED, "expired") from error
        return PendingSignIn(client=OAuthClient(**values.pop("client")), **values)

    async def _require_unchanged(self, pending: PendingSignIn) -> McpTarget:
        target = await self.servers.find(pending.user_id, pending.name)
        if target is None or target.server.source != pending.source or binding_of(target) != pending.binding:
            raise McpSignInError(CHANGED, "changed")
        return target


def _binding(digest: str) -> str:
    return f"mcp sign-in\n{digest}"
