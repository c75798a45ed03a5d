"""How users stand with MCP servers at which one signs in: each user's alone, changed by whoever read it last, and
renewed by one at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from backend_api.kit.ids import UserId
from backend_api.mcp.domain.sign_in import SignIn
from backend_api.settings.domain.entity import Sealed
from support.backend_stores import ANNA, BERT, MongoStores

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OLD, NEW = Sealed(key_id="old", text="t"), Sealed(key_id="new", text="anew")


def sign_in(
    version: str = "1", user_id: UserId = ANNA, server: str = "user:wiki", sealed: Sealed | None = OLD
) -> SignIn:
    return SignIn(user_id=user_id, server=server, binding="$b", version=version, at=AT, sealed=sealed)


async def test_each_is_kept_whole_of_its_user_and_server_and_deleted(stores: MongoStores) -> None:
    kept = [sign_in(), sign_in(server="deployment:wiki", sealed=None), sign_in(user_id=BERT)]
    for one in kept:
        await stores.sign_ins.put(one)
    assert await stores.sign_ins.of(ANNA) == {"user:wiki": kept[0], "deployment:wiki": kept[1]}
    await stores.sign_ins.put(sign_in("2", sealed=NEW))
    assert (await stores.sign_ins.of(ANNA))["user:wiki"] == sign_in("2", sealed=NEW)
    assert await stores.sign_ins.delete(ANNA, "user:wiki") == sign_in("2", sealed=NEW)
    assert await stores.sign_ins.delete(ANNA, "user:wiki") is None
    assert await stores.sign_ins.of(BERT) == {"user:wiki": kept[2]}


async def test_one_takes_the_place_of_what_was_read_and_of_nothing_else(stores: MongoStores) -> None:
    assert not await stores.sign_ins.replace(sign_in("1"), sign_in("2"))
    assert await stores.sign_ins.replace(None, sign_in("1"))
    assert not await stores.sign_ins.replace(None, sign_in("2"))
    fresh = [stores.sign_ins.replace(sign_in("1"), sign_in(str(number))) for number in range(2, 6)]
    assert sorted(await asyncio.gather(*fresh)) == [False, False, False, True]


async def test_one_of_many_renews_it_until_it_is_done_or_time_is_over(stores: MongoStores) -> None:
    held = sign_in("1")
    assert not await stores.sign_ins.claim(held, 30)
    await stores.sign_ins.put(held)
    claims = await asyncio.gather(*(stores.sign_ins.claim(held, 30) for _ in range(5)))
    assert sorted(claims) == [False] * 4 + [True]
    assert await stores.sign_ins.replace(held, held)
    assert await stores.sign_ins.claim(held, 0.01)
    await asyncio.sleep(0.05)
    assert await stores.sign_ins.claim(held, 30)
    assert await stores.sign_ins.replace(held, sign_in("2"))
    assert not await stores.sign_ins.claim(held, 30)
    assert await stores.sign_ins.claim(sign_in("2"), 30)


async def test_scopes_that_are_lacking_are_kept_and_hinder_no_renewal(stores: MongoStores) -> None:
    held = sign_in("1")
    assert not await stores.sign_ins.lack(held, "write")
    await stores.sign_ins.put(held)
    assert await stores.sign_ins.claim(held, 30)
    assert await stores.sign_ins.lack(held, "write")
    assert (await stores.sign_ins.of(ANNA))["user:wiki"] == replace(held, scopes="write", lacks_scopes=True)
    assert not await stores.sign_ins.claim(held, 30)
    fresh = replace(sign_in("2"), scopes="write")
    assert await stores.sign_ins.replace(held, fresh)
    assert (await stores.sign_ins.of(ANNA))["user:wiki"] == fresh
    assert not await stores.sign_ins.lack(held, "more")


async def test_those_under_another_key_are_found_and_sealed_anew_once(stores: MongoStores) -> None:
    for one in (sign_in(), sign_in(server="user:new", sealed=NEW), sign_in(server="user:none", sealed=None)):
        await stores.sign_ins.put(one)
    found = [one async for one in stores.sign_ins.sealed_under_other_key("new")]
    assert found == [sign_in()]
    assert await stores.sign_ins.reseal(found[0], NEW)
    assert not await stores.sign_ins.reseal(found[0], NEW)
    assert (await stores.sign_ins.of(ANNA))["user:wiki"] == replace(sign_in(), sealed=NEW)
    assert [one async for one in stores.sign_ins.sealed_under_other_key("new")] == []
