"""`Users`, `RefreshTokens` and `Tickets`."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from backend_api.computers.domain import ScreenTicket, Tickets
from backend_api.identity.domain.entity import RefreshGrant, User
from backend_api.identity.domain.errors import TokenInvalidError, TokenReusedError, UsernameTakenError
from backend_api.identity.mongo.refresh_tokens import MongoRefreshTokens
from backend_api.identity.mongo.users import MongoUsers
from backend_api.identity.ports import AccountLookup, RefreshTokens, Users
from backend_api.kit.ids import UserId
from backend_api.kit.redis.client import connect_redis
from backend_api.kit.redis.tickets import RedisTickets
from backend_api.main.stores import connect
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name"]


@dataclass(frozen=True, slots=True)
class Accounts:
    users: Users
    lookup: AccountLookup
    tokens: RefreshTokens
    tickets: Tickets


@pytest.fixture
async def accounts(mongo_server: Server, mongo_database_name: str, redis_server: Server) -> AsyncGenerator[Accounts]:
    client = connect_redis(redis_server.uri, connect_s=1, reads_for_s=1)
    async with connect(mongo_server.uri, mongo_database_name) as database:
        users = MongoUsers(database)
        yield Accounts(users, users, MongoRefreshTokens(), RedisTickets(client, "ticket", ScreenTicket))
    await client.aclose()


def user(name: str) -> User:
    return User(
        id=UserId(uuid.uuid4().hex),
        username=name,
        email=None,
        password_hash="!",
        is_admin=False,
        is_active=True,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def later(seconds: int = 60) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_of_many_first_users_one_is_admin(accounts: Accounts) -> None:
    assert not await accounts.users.has_any()
    added = await asyncio.gather(*(accounts.users.add(user(f"user{n}")) for n in range(8)))
    assert [one.is_admin for one in added].count(True) == 1
    assert await accounts.users.has_any()


async def test_a_name_is_taken_whatever_its_case(accounts: Accounts) -> None:
    await accounts.users.add(user("Anna"))
    with pytest.raises(UsernameTakenError):
        await accounts.users.add(user("aNNA"))
    found = await accounts.users.by_username("ANNA")
    assert found is not None
    assert found.user.username == "Anna"


async def test_revoked_log_ins_are_remembered(accounts: Accounts) -> None:
    anna = await accounts.users.add(user("anna"))
    await accounts.users.revoke_tokens(anna.id, "family", later())
    account = await accounts.users.get(anna.id)
    assert account is not None
    assert (account.revoked_families, account.token_version) == (frozenset({"family"}), 0)
    await accounts.users.revoke_tokens(anna.id, None, later())
    account = await accounts.users.get(anna.id)
    assert account is not None
    assert account.token_version == 1


def of(user_id: str, family: str, version: int | None = 0) -> RefreshGrant:
    return RefreshGrant(user_id=UserId(user_id), family=family, token_version=version)


async def revoked(accounts: Accounts, user_id: UserId, families: list[str]) -> set[str]:
    """Which of the families ended, as one account and as one of several tells it."""
    account = await accounts.users.get(user_id, families)
    standing = (await accounts.lookup.find_accounts({user_id: families, UserId("nobody"): ["x"]}))[user_id]
    assert account is not None
    told = account.revoked_families.intersection(families)
    assert told == standing.revoked_families.intersection(families)
    return set(told)


async def test_however_many_log_ins_ended_none_is_forgotten_before_its_time(accounts: Accounts) -> None:
    anna = await accounts.users.add(user("anna"))
    families = [f"family-{number}" for number in range(250)]
    for family in families:
        await accounts.users.revoke_tokens(anna.id, family, later())
    assert await revoked(accounts, anna.id, [*families, "going on"]) == set(families)
    await accounts.users.revoke_tokens(anna.id, None, later())
    account = await accounts.users.get(anna.id)
    assert account is not None
    assert account.token_version == 1


async def test_log_ins_that_end_at_once_are_all_remembered(accounts: Accounts) -> None:
    anna = await accounts.users.add(user("anna"))
    families = [f"family-{number}" for number in range(240)]
    for begin in range(0, len(families), 60):
        await asyncio.gather(
            *(accounts.users.revoke_tokens(anna.id, one, later()) for one in families[begin : begin + 60])
        )
    assert await revoked(accounts, anna.id, families) == set(families)


async def test_a_token_is_used_once_and_reuse_revokes_its_family(accounts: Accounts) -> None:
    await accounts.tokens.add("one", of("anna", "f"), later())
    await accounts.tokens.add("two", of("anna", "f"), later())
    await accounts.tokens.add("other", of("anna", "g", 3), later())
    uses = await asyncio.gather(*(accounts.tokens.use("one") for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(use, TokenReusedError) for use in uses) == 4
    with pytest.raises(TokenInvalidError):
        await accounts.tokens.use("two")
    assert await accounts.tokens.find("other") == of("anna", "g", 3)
    assert await accounts.tokens.use("other") == of("anna", "g", 3)


async def test_tokens_that_expired_were_revoked_or_never_were_do_not_hold(accounts: Accounts) -> None:
    await accounts.tokens.add("old", of("anna", "f"), later(-1))
    await accounts.tokens.add("gone", of("anna", "g"), later())
    await accounts.tokens.revoke(UserId("anna"), "g")
    for digest in ("old", "gone", "never"):
        with pytest.raises(TokenInvalidError):
            await accounts.tokens.use(digest)


async def test_all_tokens_of_a_generation_are_revoked_and_those_that_name_none(accounts: Accounts) -> None:
    await accounts.tokens.add("before", of("anna", "f", None), later())
    await accounts.tokens.add("now", of("anna", "g", 4), later())
    await accounts.tokens.add("next", of("anna", "h", 5), later())
    await accounts.tokens.add("another's", of("bert", "i", 1), later())
    await accounts.tokens.revoke_all(UserId("anna"), 4)
    for digest in ("before", "now"):
        with pytest.raises(TokenInvalidError):
            await accounts.tokens.use(digest)
    for digest in ("next", "another's"):
        await accounts.tokens.use(digest)


async def test_a_ticket_holds_once(accounts: Accounts) -> None:
    ticket = ScreenTicket(user_id="anna", session_id="s", mode="view")
    secret = await accounts.tickets.issue(ticket, ttl_s=60)
    redeemed = await asyncio.gather(*(accounts.tickets.redeem(secret) for _ in range(5)))
    assert sorted(found is not None for found in redeemed) == [False] * 4 + [True]
    assert await accounts.tickets.redeem("unknown") is None
