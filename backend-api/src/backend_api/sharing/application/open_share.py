"""Opening a link with its token, and its passphrase if it has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from backend_api.conversations.domain.entity import Session
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.delayed_attempts import DelayedAttempts
from backend_api.identity.application.guesses import TRIES_WINDOW_S, pause_of
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import PasswordHasher, RateLimiter
from backend_api.sharing.application.make_share import MAX_PASSPHRASE
from backend_api.sharing.application.owner_account import OwnerAccount
from backend_api.sharing.domain.entity import Share, ShareId
from backend_api.sharing.domain.errors import (
    PassphraseRequiredError,
    PassphraseWrongError,
    ShareExpiredError,
    ShareNotFoundError,
)
from backend_api.sharing.ports import Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The credentials sent with a link: its token, and the pass that was issued for the passphrase."""

    token: str
    access: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenShare:
    """The error is the same for a link that is unknown, revoked, or of a deleted conversation or a closed account, and
    for a wrong token."""

    shares: Shares
    sessions: SessionRepository
    owner: OwnerAccount
    passwords: PasswordHasher
    limiter: RateLimiter
    limits: Limits
    clock: Callable[[], float]
    is_enabled: bool = True
    paused: DelayedAttempts = field(default_factory=DelayedAttempts)

    async def __call__(self, share_id: ShareId, shown: Shown) -> tuple[Share, Session]:
        """Open the link. Raises `ShareNotFoundError`, `ShareExpiredError`, `PassphraseRequiredError`."""
        share = await self._by_token(share_id, shown.token)
        if share.has_passphrase and not share.is_passed_by(shown.access, self.clock()):
            raise PassphraseRequiredError
        try:
            return share, await self.sessions.get(share.session_id, share.user_id)
        except SessionNotFoundError as error:
            raise ShareNotFoundError from error

    async def unlock(self, share_id: ShareId, token: str, passphrase: str, address: str) -> tuple[str, float]:
        """Check the passphrase and issue a pass with its expiry. Raises `PassphraseWrongError`, and `LimitError` per
        address; attempts from other addresses only slow down a person with the right one."""
        share = await self._by_token(share_id, token)
        if share.has_passphrase:
            tries, limit = f"share:{share_id}", self.limits.login_per_minute
            if limit > 0:
                await self.limiter.hit(f"{tries}:{address}", limit=limit, window_s=60)
                count = await self.limiter.count(tries, window_s=TRIES_WINDOW_S)
                await self.paused.wait(address, pause_of(count))
            is_right = await self.passwords.verify(share.passphrase_hash, passphrase[:MAX_PASSPHRASE])
            if not is_right or len(passphrase) > MAX_PASSPHRASE:
                raise PassphraseWrongError
            if limit > 0:
                await self.limiter.forget(tries)
        return share.pass_until(self.clock())

    async def _by_token(self, share_id: ShareId, token: str) -> Share:
        share = await self.shares.get(share_id)
        if not self.is_enabled or not share.is_opened_by(token):
            raise ShareNotFoundError
        if share.is_over(self.clock()):
            raise ShareExpiredError
        if not await self.owner.holds(share):
            raise ShareNotFoundError
        return share
