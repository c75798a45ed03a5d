"""The page may bring a token twice, as long as nobody but pages used what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from backend_api.identity.application.issue_grant import IssueGrant
from backend_api.identity.application.limits import Limits
from backend_api.identity.application.log_out import LogOut
from backend_api.identity.application.refresh import AGAIN_S, Refresh
from backend_api.identity.domain.entity import User
from backend_api.identity.domain.errors import TokenInvalidError, TokenReusedError
from backend_api.identity.in_process_rate_limiter import InProcessRateLimiter
from backend_api.identity.tokens import JwtAccessTokens
from backend_api.kit.ids import UserId
from backend_api.kit.in_process_notifier import InProcessNotifier
from support.memory.identity import MemoryRefreshTokens, MemoryUsers

ANNA = UserId("anna")


@dataclass(slots=True)
class Lab:
    """Log-ins in memory, with a clock to turn."""

    refresh: Refresh
    issue_grant: IssueGrant
    users: MemoryUsers
    now: list[datetime]

    async def log_in(self) -> str:
        account = await self.users.get(ANNA)
        assert account is not None
        return (await self.issue_grant(account, for_page=True)).refresh_token

    async def page(self, token: str) -> str:
        return (await self.refresh(token, address="a", for_page=True)).refresh_token

    async def client(self, token: str) -> str:
        return (await self.refresh(token, address="a")).refresh_token


@pytest.fixture
async def lab() -> Lab:
    now = [datetime.now(UTC)]
    users, tokens = MemoryUsers(), MemoryRefreshTokens(lambda: now[0])
    await users.add(
        User(
            id=ANNA,
            username="anna",
            email=None,
            password_hash="!",
            is_admin=False,
            is_active=True,
            created_at=now[0],
        )
    )
    signed = JwtAccessTokens("k9" * 24, algorithm="HS256", expires_s=600)
    issue_grant = IssueGrant(tokens, signed, timedelta(days=1))
    log_out = LogOut(users, tokens, timedelta(days=1), InProcessNotifier())
    refresh = Refresh(users, tokens, signed, issue_grant, log_out, InProcessRateLimiter(), Limits())
    return Lab(refresh, issue_grant, users, now)


async def test_pages_that_bring_used_tokens_all_get_the_one_in_use(lab: Lab) -> None:
    first = await lab.log_in()
    newest = await lab.page(await lab.page(await lab.page(first)))
    assert await lab.page(first) == newest


@pytest.mark.parametrize("pages", [1, 2, 3])
async def test_a_chain_that_a_client_took_over_ends_the_log_in_when_the_page_comes_back(lab: Lab, pages: int) -> None:
    first = newest = await lab.log_in()
    for _ in range(pages):
        newest = await lab.page(newest)
    thief = await lab.client(newest)
    with pytest.raises(TokenReusedError):
        await lab.page(first)
    account = await lab.users.get(ANNA)
    assert account is not None
    assert len(account.revoked_families) == 1
    for token in (thief, newest):
        with pytest.raises(TokenInvalidError):
            await lab.client(token)


async def test_after_its_grace_a_token_of_a_page_ends_the_log_in(lab: Lab) -> None:
    first = await lab.log_in()
    newest = await lab.page(first)
    lab.now[0] += timedelta(seconds=AGAIN_S + 1)
    with pytest.raises(TokenReusedError):
        await lab.page(first)
    with pytest.raises(TokenInvalidError):
        await lab.page(newest)
