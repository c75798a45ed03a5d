"""Connections end with their log-in: when its token expires, it is logged out, or its account is closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager

from backend_api.identity.domain.entity import AccessClaims
from backend_api.identity.domain.errors import TokenInvalidError
from backend_api.identity.ports import AccountLookup
from backend_api.kit.errors import UnauthenticatedError, UnavailableError
from backend_api.kit.ids import UserId
from backend_api.kit.notifier import Notifier, Topic

logger = logging.getLogger(__name__)

CHECK_S = 2.0


class ConnectionAuth:
    """One stream or socket. `ended` is done, with the reason, when its log-in is no longer valid; any other end sets
    None."""

    def __init__(self, claims: AccessClaims, clock: Callable[[], float]) -> None:
        self.claims = claims
        self.ended: asyncio.Future[UnauthenticatedError | None] = asyncio.get_running_loop().create_future()
        self._clock = clock
        self._expiry = self._schedule_expiry()

    def renew(self, claims: AccessClaims) -> None:
        """Continue under a newer token. Raises `TokenInvalidError` for one of another user."""
        if claims.user_id != self.claims.user_id:
            raise TokenInvalidError("This token belongs to another user.")
        self.release()
        self.claims = claims
        self._expiry = self._schedule_expiry()

    def end(self, reason: UnauthenticatedError | None) -> None:
        """End the connection; the first reason counts."""
        if not self.ended.done():
            self.ended.set_result(reason)

    def release(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()

    def _schedule_expiry(self) -> asyncio.TimerHandle | None:
        if self.claims.expires_at is None:
            return None
        rest = max(self.claims.expires_at - self._clock(), 0.0)
        expired = TokenInvalidError("The token has expired. Reconnect with a new one.")
        return asyncio.get_running_loop().call_later(rest, self.end, expired)


class AuthenticatedConnections:
    """All connections of this process. One query to the store covers all of them, every `every_s` and on notice."""

    def __init__(
        self, accounts: AccountLookup, notifier: Notifier, clock: Callable[[], float], every_s: float = CHECK_S
    ) -> None:
        self._accounts = accounts
        self._notifier = notifier
        self._clock = clock
        self._every_s = every_s
        self._held: dict[UserId, set[ConnectionAuth]] = {}

    @contextmanager
    def register(self, claims: AccessClaims) -> Generator[ConnectionAuth]:
        """Watch a connection for the length of the block."""
        auth = ConnectionAuth(claims, self._clock)
        beside = self._held.setdefault(claims.user_id, set())
        beside.add(auth)
        try:
            yield auth
        finally:
            auth.release()
            beside.discard(auth)
            if not beside and self._held.get(claims.user_id) is beside:
                del self._held[claims.user_id]

    async def check(self, claims: AccessClaims) -> None:
        """Check a log-in now. Raises `TokenInvalidError`."""
        is_late = claims.expires_at is not None and claims.expires_at < self._clock()
        account = (await self._accounts.find_accounts({claims.user_id: (claims.family,)})).get(claims.user_id)
        if is_late or not claims.holds(account):
            raise TokenInvalidError("This login session has ended. Log in again.")

    async def watch_log_ins(self) -> None:
        """Watch until cancelled."""
        loop = asyncio.get_running_loop()
        async with self._notifier.subscribe(Topic.LOG_IN_ENDED) as ended:
            look_at = loop.time() + self._every_s
            while True:
                user_id = await ended.next(max(look_at - loop.time(), 0.0))
                if user_id is not None and user_id not in self._held and loop.time() < look_at:
                    continue
                look_at = loop.time() + self._every_s
                try:
                    await self._end_revoked()
                except UnavailableError:
                    logger.warning("log-ins could not be checked; open connections stay open")
                except Exception:
                    logger.exception("checking log-ins failed")

    async def _end_revoked(self) -> None:
        families = {user_id: {auth.claims.family for auth in beside} for user_id, beside in self._held.items()}
        if not families:
            return
        found = await self._accounts.find_accounts(families)
        for user_id, asked in families.items():
            for auth in tuple(self._held.get(user_id, ())):
                # Connections opened meanwhile were checked when they opened.
                if auth.claims.family in asked and not auth.claims.holds(found.get(user_id)):
                    auth.end(TokenInvalidError("This login session has ended. Log in again."))
