"""Trade a refresh token for new tokens."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.application.identity.issue_grant import IssueGrant, digest_of
from backend_api.application.identity.limits import Limits
from backend_api.application.identity.log_out import LogOut
from backend_api.domain.identity.entity import Account, Grant, RefreshGrant
from backend_api.domain.identity.errors import TokenInvalidError, TokenReusedError
from backend_api.domain.identity.ports import AccessTokens, RateLimiter, RefreshTokens, Users

AGAIN_S = 60
MAX_FOLLOWING = 100


@dataclass(frozen=True, slots=True)
class Refresh:
    """A token holds once; used again it ends its log-in everywhere. Raises `TokenInvalidError`, `LimitError`.

    A page may use one again for `AGAIN_S`: tabs share one, and an answer may be lost. All get the same token, so that
    there are never two in use side by side, of which one could be a thief's.
    """

    users: Users
    refresh_tokens: RefreshTokens
    access_tokens: AccessTokens
    issue_grant: IssueGrant
    log_out: LogOut
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, refresh_token: str, *, address: str, for_page: bool = False) -> Grant:
        digest = digest_of(refresh_token)
        found = await self.refresh_tokens.find(digest)
        # Pages refresh whenever they are loaded, and many people may share an address.
        who = f"user:{found.user_id}" if found else address
        await self.limiter.hit(f"refresh:{who}", limit=self.limits.refresh_per_minute, window_s=60)
        # Read before the token is used up: all log-ins ended after this reading end what is issued here.
        account = await self.users.get(found.user_id, (found.family,)) if found else None
        try:
            used = await self.refresh_tokens.use(digest, again_s=AGAIN_S if for_page else 0)
            if account is None or not _holds(used, account):
                raise TokenInvalidError("This refresh token does not hold. Log in again.")
            following = await self._following(refresh_token, used) if for_page else None
        except TokenReusedError as error:
            await self.log_out.end(error.grant.user_id, error.grant.family)
            raise
        return await self.issue_grant(account, used.family, refresh_token=following, for_page=for_page)

    async def _following(self, refresh_token: str, used: RefreshGrant) -> str:
        """The token that is in use now, if this one was used before; else a new one.

        Raises `TokenReusedError` where one between was used by a client: what that got is a second chain.
        """
        following = self.access_tokens.following(refresh_token)
        if not used.is_used:
            return following
        for _ in range(MAX_FOLLOWING):
            found = await self.refresh_tokens.find(digest_of(following))
            if found is None or not found.is_used:
                return following
            await self.refresh_tokens.use(digest_of(following), again_s=AGAIN_S)
            following = self.access_tokens.following(following)
        raise TokenInvalidError("This refresh token does not hold. Log in again.")


def _holds(used: RefreshGrant, account: Account) -> bool:
    if not account.user.is_active or used.family in account.revoked_families:
        return False
    return used.token_version is None or used.token_version == account.token_version
