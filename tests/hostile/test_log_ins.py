"""Somebody who wants to stay logged in: races against the end of a log-in, and tokens brought back long after it."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import AsyncExitStack
from typing import Any

import bson
import httpx
import pytest
import websockets

from backend_api.identity.application.log_in import LogIn
from backend_api.identity.mongo.users import MongoUsers
from support.gateway import Gateway
from support.streams import reading

Json = dict[str, Any]

ROUNDS = 3
LOOPS = 6
LOG_OUTS = 400
WAIT_S = 20.0


def bearer(grant: Json) -> dict[str, str]:
    return {"Authorization": f"Bearer {grant['access_token']}"}


async def enter(gateway: Gateway, call: str, name: str, password: str = "long enough") -> Json:
    answer = await gateway.client.post(f"/api/auth/{call}", json={"username": name, "password": password})
    assert answer.is_success, answer.text
    return answer.json()


async def refreshed(gateway: Gateway, grant: Json) -> httpx.Response:
    return await gateway.client.post("/api/auth/refresh", json={"refresh_token": grant["refresh_token"]})


async def is_dead(gateway: Gateway, grant: Json) -> bool:
    """Neither token of it opens anything."""
    me = await gateway.client.get("/api/auth/me", headers=bearer(grant))
    return me.status_code == 401 and (await refreshed(gateway, grant)).status_code == 401


async def refresh_for_ever(gateway: Gateway, grant: Json) -> Json:
    """Refresh as fast as it goes, until refused; the last that was given out."""
    for _ in range(2_000):
        answer = await refreshed(gateway, grant)
        if not answer.is_success:
            assert answer.status_code == 401, answer.text
            return grant
        grant = answer.json()
    raise AssertionError("it could be refreshed long after the log-in had ended")


async def test_no_refresh_outruns_the_end_of_all_log_ins(gateways: list[Gateway]) -> None:
    near, far = gateways
    await enter(near, "register", "anna")
    for _ in range(ROUNDS):
        grants = await asyncio.gather(*(enter(near, "login", "anna") for _ in range(LOOPS + 1)))
        loops = [
            asyncio.create_task(refresh_for_ever((near, far)[number % 2], grant))
            for number, grant in enumerate(grants[1:])
        ]
        await asyncio.sleep(0.05)
        left = await near.client.post("/api/auth/logout-all", headers=bearer(grants[0]))
        assert left.status_code == 204
        last = await asyncio.gather(*loops)
        assert [await is_dead(far, grant) for grant in last] == [True] * LOOPS


async def test_no_refresh_outruns_the_end_of_its_own_log_in(gateways: list[Gateway]) -> None:
    near, far = gateways
    await enter(near, "register", "anna")
    for _ in range(ROUNDS):
        grant = await enter(near, "login", "anna")
        loop = asyncio.create_task(refresh_for_ever(far, grant))
        await asyncio.sleep(0.03)
        assert (await near.client.post("/api/auth/logout", headers=bearer(grant))).status_code == 204
        assert await is_dead(near, await loop)


async def test_of_a_refresh_token_used_many_times_at_once_nothing_holds(gateways: list[Gateway]) -> None:
    near, far = gateways
    first = await enter(near, "register", "anna")
    for _ in range(ROUNDS):
        grant = await enter(near, "login", "anna")
        answers = await asyncio.gather(*(refreshed((near, far)[number % 2], grant) for number in range(8)))
        won = [answer.json() for answer in answers if answer.is_success]
        assert len(won) <= 1
        assert [await is_dead(far, one) for one in (grant, *won)] == [True] * (1 + len(won))
    assert (await near.client.get("/api/auth/me", headers=bearer(first))).status_code == 200


async def paged(gateway: Gateway, token: str) -> httpx.Response:
    """Refreshed as our page does it, which may use a token again for a while."""
    headers = {"Origin": gateway.url, "Cookie": f"refresh-{gateway.url.rpartition(':')[2]}={token}"}
    gateway.client.cookies.clear()
    return await gateway.client.post("/api/auth/refresh", json={"cookie": True}, headers=headers)


def brought(answer: httpx.Response) -> str:
    return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]


async def test_a_thief_who_goes_on_as_a_client_from_where_the_page_is_gets_no_chain_beside_it(
    gateways: list[Gateway],
) -> None:
    near, far = gateways
    grant = await enter(near, "register", "anna")
    first = brought(await paged(near, grant["refresh_token"]))
    second = brought(await paged(far, first))
    third = brought(await paged(far, second))
    thief = await refreshed(far, {"refresh_token": third})
    assert thief.status_code == 200
    victim = await paged(near, first)
    assert (victim.status_code, victim.json()["code"]) == (401, "token_reused")
    assert await is_dead(far, thief.json())
    assert (await paged(near, third)).status_code == 401


async def test_a_token_from_before_generations_were_kept_does_not_outrun_it_either(gateways: list[Gateway]) -> None:
    near, far = gateways
    grant = await enter(near, "register", "anna")
    for _ in range(ROUNDS):
        old = [await enter(near, "login", "anna") for _ in range(LOOPS)]
        unset = await near.database["refresh_tokens"].update_many({}, {"$unset": {"token_version": 1}})
        assert unset.modified_count >= LOOPS
        loops = [asyncio.create_task(refresh_for_ever((near, far)[number % 2], one)) for number, one in enumerate(old)]
        left = await near.client.post("/api/auth/logout-all", headers=bearer(grant))
        assert left.status_code == 204
        assert [await is_dead(far, one) for one in await asyncio.gather(*loops)] == [True] * LOOPS
        grant = await enter(near, "login", "anna")


async def test_a_token_from_before_generations_were_kept_still_trades_for_new_ones(gateways: list[Gateway]) -> None:
    near, far = gateways
    grant = await enter(near, "register", "anna")
    await near.database["refresh_tokens"].update_many({}, {"$unset": {"token_version": 1}})
    await near.database["users"].update_many({}, {"$unset": {"more_revoked_until": 1}})
    for gateway in (far, near):
        answer = await refreshed(gateway, grant)
        assert answer.status_code == 200
        grant = answer.json()
    assert (await far.client.get("/api/auth/me", headers=bearer(grant))).status_code == 200


NEW = "quite another one"


async def changed(gateway: Gateway, grant: Json, new: str = NEW, old: str = "long enough") -> httpx.Response:
    body = {"old_password": old, "new_password": new}
    return await gateway.client.post("/api/auth/password", json=body, headers=bearer(grant))


async def test_no_refresh_or_log_in_outruns_a_changed_password(gateways: list[Gateway]) -> None:
    near, far = gateways
    owner = await enter(near, "register", "anna")
    thief = await enter(far, "login", "anna")
    loop = asyncio.create_task(refresh_for_ever(far, thief))
    log_ins = [asyncio.create_task(try_to_enter(far)) for _ in range(6)]
    answer = await changed(near, owner)
    assert answer.status_code == 200
    entered = [grant for grant in await asyncio.gather(*log_ins) if grant is not None]
    assert [await is_dead(near, grant) for grant in (await loop, *entered)] == [True] * (1 + len(entered))
    assert await try_to_enter(far) is None
    assert (await refreshed(far, answer.json())).status_code == 200


async def try_to_enter(gateway: Gateway) -> Json | None:
    """With the old password."""
    body = {"username": "anna", "password": "long enough"}
    answer = await gateway.client.post("/api/auth/login", json=body)
    return answer.json() if answer.is_success else None


async def test_a_changed_password_ends_what_a_thief_has_open_at_every_gateway(gateways: list[Gateway]) -> None:
    near, far = gateways
    owner, thief = await enter(near, "register", "anna"), await enter(far, "login", "anna")
    session_id = await near.session(bearer(owner))
    async with AsyncExitStack() as stack:
        readers = [
            await stack.enter_async_context(reading(gateway.client, path, bearer(thief)))
            for gateway in gateways
            for path in ("/api/events", f"/api/sessions/{session_id}/events")
        ]
        address = f"{far.url.replace('http', 'ws')}/api/sessions/{session_id}/ws"
        socket = await stack.enter_async_context(websockets.connect(address, additional_headers=bearer(thief)))
        grant = (await changed(near, owner)).json()
        async with asyncio.timeout(WAIT_S):
            await socket.wait_closed()
            for reader in readers:
                with pytest.raises(EOFError):
                    await reader.until("never")
        assert socket.close_code == 4401
    assert await is_dead(far, thief)
    assert (await far.client.get("/api/auth/me", headers=bearer(grant))).status_code == 200


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_a_logged_out_token_stays_so_after_hundreds_of_others_and_the_account_stays_small(
    gateways: list[Gateway],
) -> None:
    near, far = gateways
    await enter(near, "register", "anna")
    account = await near.port("users", MongoUsers).by_username("anna")
    assert account is not None
    logged_in = near.port("log_in", LogIn).issue_grant
    kept = await logged_in(account)
    tokens: list[str] = []
    places = asyncio.Semaphore(8)

    async def come_and_go() -> None:
        async with places:
            token = (await logged_in(account, secrets.token_hex(16))).access_token
            left = await near.client.post("/api/auth/logout", headers={"Authorization": f"Bearer {token}"})
            assert left.status_code == 204
            tokens.append(token)

    await asyncio.gather(*(come_and_go() for _ in range(LOG_OUTS)))
    for token in tokens[:: LOG_OUTS // 100]:
        answer = await far.client.get("/api/auth/me", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
    other = await far.client.get("/api/auth/me", headers={"Authorization": f"Bearer {kept.access_token}"})
    assert other.status_code == 200
    stored = await near.database["users"].find_one({"_id": account.user.id})
    assert stored is not None
    assert len(bson.encode(stored)) < 20_000
    indexes = await near.database["revoked_families"].index_information()
    assert any(index.get("expireAfterSeconds") == 0 for index in indexes.values())
