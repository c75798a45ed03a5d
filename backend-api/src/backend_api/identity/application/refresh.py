"""Exchange a refresh token for new tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.identity.application.issue_grant import IssueGrant, digest_of
from backend_api.identity.application.limits import Limits
from backend_api.identity.application.log_out import LogOut
from backend_api.identity.domain.entity import Account, Grant, RefreshGrant
from backend_api.identity.domain.errors import TokenInvalidError, TokenReusedError
from backend_api.identity.ports import AccessTokens, RateLimiter, RefreshTokens, Users
from backend_api.kit.ids import UserId

AGAIN_S = 60
MAX_FOLLOWING = 100


@dataclass(frozen=True, slots=True)
class Refresh:
    """A token is valid once; used again, it ends its log-in everywhere. Raises `TokenInvalidError`, `LimitError`.

    A page may reuse one for `AGAIN_S`: tabs share one, and an answer may be lost. All get the same token, so that there
    are never two in use side by side, of which one could be a thief's.
    """

    users: Users
    refresh_tokens: RefreshTokens
    access_tokens: AccessTokens
    issue_grant: IssueGrant
    log_out: LogOut
    limiter: RateLimiter
    limits: Limits

    async def __call__(
        self, *refresh_tokens: str, address: str, for_page: bool = False, user_id: UserId | None = None
    ) -> Grant:
        """Of several tokens, use the one of `user_id`; without it there must be only one. The others, which an attacker
        may have planted, are left unchanged."""
        own = await self._find_own(refresh_tokens, user_id)
        # Pages refresh whenever they are loaded, and many people may share an address. Counted by log-in, not by user:
        # the holder of a token of an ended log-in must not use up the limit of the owner's.
        who = f"log-in:{own[1].family}" if own else address
        await self.limiter.hit(f"refresh:{who}", limit=self.limits.refresh_per_minute, window_s=60)
        if own is None:
            raise TokenInvalidError("The refresh token is invalid or has expired. Log in again.")
        refresh_token, found = own
        # Read before the token is used up: all log-ins ended after this reading end what is issued here.
        account = await self.users.get(found.user_id, (found.family,))
        try:
            used = await self.refresh_tokens.use(digest_of(refresh_token), again_s=AGAIN_S if for_page else 0)
            if account is None or not _is_valid(used, account):
                raise TokenInvalidError("The refresh token is invalid or has expired. Log in again.")
            following = await self._following(refresh_token, used) if for_page else None
        except TokenReusedError as error:
            await self.log_out.end(error.grant.user_id, error.grant.family)
            raise
        return await self.issue_grant(account, used.family, refresh_token=following, for_page=for_page)

    async def _find_own(self, refresh_tokens: Sequence[str], user_id: UserId | None) -> tuple[str, RefreshGrant] | None:
        if user_id is None and len(refresh_tokens) > 1:
            return None
        for refresh_token in refresh_tokens:
            found = await self.refresh_tokens.find(digest_of(refresh_token))
            if found is not None and user_id in (None, found.user_id):
                return refresh_token, found
        return None

    async def _following(self, refresh_token: str, used: RefreshGrant) -> str:
        """The token in use now, if this one was used before; else a new one.

        Raises `TokenReusedError` if one in between was used by a client, which then has a second chain of tokens.
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
        raise TokenInvalidError("The refresh token is invalid or has expired. Log in again.")


def _is_valid(used: RefreshGrant, account: Account) -> bool:
    if not account.user.is_active or used.family in account.revoked_families:
        return False
    return used.token_version is None or used.token_version == account.token_version
