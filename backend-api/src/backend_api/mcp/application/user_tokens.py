"""Access tokens by which connections to MCP servers act for their users, renewed when they expire."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import UserId
from backend_api.mcp.application.revocation import revoke
from backend_api.mcp.application.user_sign_ins import SignInsOfUsers
from backend_api.mcp.domain.entity import McpTarget
from backend_api.mcp.domain.sign_in import (
    AccessTokens,
    Authorizer,
    Grant,
    NoAccessTokens,
    RenewalFailedError,
    RenewalRefusedError,
    SignIn,
    binding_of,
    may_sign_in,
    server_key,
    with_scopes,
)

EARLY = timedelta(seconds=30)
"""A token is renewed this long before it expires, since a call takes time."""
CLAIM_S = 30.0
"""How long one process holds the exclusive right to renew, in seconds: many servers accept a refresh token once, and
revoke all tokens if one is presented twice."""
FRESH_S = 10.0
WAIT_S = 15.0
LOOK_EVERY_S = 0.1
CLOSE_S = 5.0
NOT_RENEWED = "You are signed in there, but the token could not be renewed."


class UserTokens:
    """Hands out `AccessTokens`. Renewals under way are finished before it closes: one that is cut loses the new tokens,
    and the user would have to sign in again."""

    def __init__(
        self,
        sign_ins: SignInsOfUsers,
        authorizer: Authorizer,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.sign_ins = sign_ins
        self.authorizer = authorizer
        self.clock = clock
        self._renewing = set[asyncio.Task[None]]()

    def of(self, target: McpTarget, user_id: str) -> AccessTokens:
        """The access tokens for a connection of this user."""
        if not user_id or not may_sign_in(target.server):
            return NoAccessTokens()
        return _Tokens(self, target, UserId(user_id))

    async def finished(self, renewing: asyncio.Task[None]) -> None:
        """Waits for a renewal, which continues even if nobody waits any more."""
        self._renewing.add(renewing)
        renewing.add_done_callback(self._renewing.discard)
        await asyncio.shield(renewing)

    async def close(self) -> None:
        """Closes it; to be called once nothing connects any more."""
        if self._renewing:
            await asyncio.wait([*self._renewing], timeout=CLOSE_S)
        for renewing in self._renewing:
            renewing.cancel()


class _Tokens:
    """`AccessTokens` of one connection."""

    def __init__(self, users: UserTokens, target: McpTarget, user_id: UserId) -> None:
        self._users = users
        self._target = target
        self._user_id = user_id
        self._lock = asyncio.Lock()
        self._sign_in: SignIn | None = None
        self._grant: Grant | None = None
        self._renewed_at = -FRESH_S
        """The time of the last renewal on this connection, by the event loop's clock."""
        self._fault = NOT_RENEWED

    async def current(self) -> str | None:
        async with self._lock:
            # Read each time: after a sign-out the token is not used any more, even during a run.
            await self._read()
            is_over = self._grant is not None and self._is_expired(self._grant) and not self._is_fresh()
            if self._grant is not None and self._grant.refresh_token and is_over:
                await self._renew(self._grant)
            return self._grant.access_token if self._grant is not None else None

    async def after_refusal(self, refused: str | None, *, asks_to_sign_in: bool) -> str | None:
        async with self._lock:
            await self._read()
            grant = self._grant
            if grant is not None and grant.access_token != refused:
                return grant.access_token
            if grant is not None and grant.refresh_token and not self._is_fresh():
                await self._renew(grant)
                if self._grant == grant:
                    raise UnavailableError(self._fault)
                return self._grant.access_token if self._grant is not None else None
            if grant is not None or (asks_to_sign_in and not self._is_unreadable()):
                await self._forget()
            return None

    async def accepted(self) -> None:
        async with self._lock:
            known = self._sign_in
            if known is not None and known.sealed is None:
                await self._users.sign_ins.store.delete(self._user_id, known.server)
                self._sign_in = None

    async def lacks(self, scopes: str) -> bool:
        async with self._lock:
            await self._read()
            known = self._sign_in
            if known is None or self._grant is None:
                return True
            wanted = with_scopes(known.scopes, scopes)
            if wanted != known.scopes:
                await self._users.sign_ins.store.lack(known, wanted)
                return True
            return known.lacks_scopes

    def _is_expired(self, grant: Grant) -> bool:
        return grant.expires_at is not None and grant.expires_at - EARLY <= self._users.clock()

    def _is_fresh(self) -> bool:
        """Whether the token was renewed just now, so that another one would be no better."""
        return asyncio.get_running_loop().time() - self._renewed_at < FRESH_S

    def _is_unreadable(self) -> bool:
        """Whether tokens are stored but can't be decrypted. Another SECRETS_KEY may open them, so they are kept."""
        known = self._sign_in
        return known is not None and known.sealed is not None and known.binding == binding_of(self._target)

    async def _read(self) -> None:
        sign_ins, known = self._users.sign_ins, self._sign_in
        self._sign_in = (await sign_ins.of(self._user_id)).get(server_key(self._target.server))
        if known is None or self._sign_in is None or known.version != self._sign_in.version:
            self._grant = sign_ins.grant(self._sign_in, self._target)

    async def _forget(self) -> None:
        """Records that the server asks the user to sign in."""
        known, self._grant = self._sign_in, None
        if known is not None and known.sealed is None and known.binding == binding_of(self._target):
            return
        fresh = self._users.sign_ins.needed(self._user_id, self._target)
        if await self._users.sign_ins.store.replace(known, fresh):
            self._sign_in = fresh
        else:
            await self._read()

    async def _renew(self, grant: Grant) -> None:
        """Renews the token in one process only; the others wait for its result."""
        held = self._sign_in
        assert held is not None
        until = asyncio.get_running_loop().time() + WAIT_S
        while not await self._users.sign_ins.store.claim(held, CLAIM_S):
            await self._read()
            if self._sign_in is None or self._sign_in.version != held.version:
                return
            if asyncio.get_running_loop().time() >= until:
                return
            await asyncio.sleep(LOOK_EVERY_S)
        await self._users.finished(asyncio.create_task(self._renew_claimed(held, grant), name="mcp token"))

    async def _renew_claimed(self, held: SignIn, grant: Grant) -> None:
        sign_ins = self._users.sign_ins
        try:
            fresh = await self._users.authorizer.renew(self._target.server.source, self._user_id, grant)
        except RenewalRefusedError:
            self._sign_in = held
            await self._forget()
        except RenewalFailedError as error:
            # The old token may still be valid; the next caller that needs it tries again.
            self._fault = f"{NOT_RENEWED} {error}"
            await sign_ins.store.replace(held, held)
        else:
            given = sign_ins.given(self._user_id, self._target, fresh, held.at)
            given = replace(given, scopes=held.scopes, lacks_scopes=held.lacks_scopes)
            if await sign_ins.store.replace(held, given):
                self._sign_in, self._grant = given, fresh
                self._renewed_at = asyncio.get_running_loop().time()
            else:
                await self._read()
                if self._grant is None:
                    await revoke(self._users.authorizer, self._target.server, self._user_id, fresh)
