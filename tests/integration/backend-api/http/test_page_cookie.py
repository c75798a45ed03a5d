"""The page's refresh token: in a cookie, for our own page alone, and not lost when an answer is."""

from __future__ import annotations

import asyncio
from http.cookies import Morsel, SimpleCookie
from typing import Any

import httpx
import pytest

from backend_api.identity.application.limits import Limits
from support.gateway import Gateway, run_gateway
from support.servers import Server

ANNA = {"username": "anna", "password": "anna-password"}


def page(gateway: Gateway) -> dict[str, str]:
    """What a browser says of our own page over plain http."""
    return {"Origin": gateway.url}


def cookie_of(answer: httpx.Response) -> Morsel[str]:
    assert answer.is_success, answer.text
    cookie = SimpleCookie(answer.headers["set-cookie"])
    (morsel,) = cookie.values()
    return morsel


def sent(cookie: Morsel[str]) -> dict[str, str]:
    return {"Cookie": f"{cookie.key}={cookie.value}"}


async def ask(
    gateway: Gateway, call: str, headers: dict[str, str], body: dict[str, Any] | None = None
) -> httpx.Response:
    """Without the client's own jar: which cookie goes along is said each time."""
    gateway.client.cookies.clear()
    return await gateway.client.post(f"/api/auth/{call}", json={"cookie": True} | (body or {}), headers=headers)


async def entered(gateway: Gateway) -> httpx.Response:
    await gateway.user("anna")
    return await ask(gateway, "login", page(gateway), ANNA)


async def refresh(gateway: Gateway, cookie: Morsel[str]) -> httpx.Response:
    return await ask(gateway, "refresh", page(gateway) | sent(cookie))


async def test_the_token_is_in_the_cookie_alone_and_the_access_token_is_short(gateway: Gateway) -> None:
    answer = await entered(gateway)
    cookie = cookie_of(answer)
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["secure"]) == (
        True,
        "strict",
        "/api/auth",
        "",
    )
    assert int(cookie["max-age"]) == 30 * 86_400
    body = answer.json()
    assert body["refresh_token"] is None
    assert cookie.value not in answer.text
    assert body["expires_in"] <= 1800
    renewed = await refresh(gateway, cookie)
    assert renewed.json()["refresh_token"] is None
    assert cookie_of(renewed).value != cookie.value
    me = await gateway.client.get("/api/auth/me", headers={"Authorization": f"Bearer {renewed.json()['access_token']}"})
    assert me.json()["username"] == "anna"


async def test_over_https_the_cookie_is_sent_over_https_alone(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    proxies = ("127.0.0.1",)
    uris = mongo_server.uri, mongo_database_name, redis_server.uri
    https = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1", "Sec-Fetch-Site": "same-origin"}
    async with run_gateway(*uris, trusted_proxies=proxies) as gateway:
        await gateway.user("anna")
        cookie = cookie_of(await ask(gateway, "login", https, ANNA))
        assert (cookie.key.startswith("__Secure-"), cookie["secure"]) == (True, True)
        assert (await ask(gateway, "refresh", https | sent(cookie))).status_code == 200
    async with run_gateway(*uris) as gateway:
        cookie = cookie_of(await ask(gateway, "login", https, ANNA))
        assert (cookie.key.startswith("__Secure-"), cookie["secure"]) == (False, "")


@pytest.mark.parametrize(
    "who",
    [
        pytest.param({}, marks=pytest.mark.thorough),
        {"Origin": "https://evil.example"},
        pytest.param({"Origin": "null"}, marks=pytest.mark.thorough),
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        pytest.param({"Sec-Fetch-Site": "none"}, marks=pytest.mark.thorough),
    ],
)
async def test_no_other_page_uses_the_cookie_or_sets_it(gateway: Gateway, who: dict[str, str]) -> None:
    cookie = cookie_of(await entered(gateway))
    bearer = await gateway.client.post("/api/auth/login", json=ANNA)
    calls = {
        "login": ANNA,
        "register": {"username": "bert", "password": "bert-password"},
        "refresh": {},
        "password": {"old_password": "anna-password", "new_password": "quite another"},
    }
    token = {"Authorization": f"Bearer {bearer.json()['access_token']}"}
    site = {"Origin": gateway.url} if "Sec-Fetch-Site" in who else {}
    for call, body in calls.items():
        answer = await ask(gateway, call, site | who | sent(cookie) | token, body)
        assert (answer.status_code, answer.json()["code"]) == (403, "origin_forbidden"), call
        assert "set-cookie" not in answer.headers
    left = await gateway.client.post("/api/auth/logout", headers=site | who | sent(cookie))
    assert left.status_code == 401
    assert (await refresh(gateway, cookie)).status_code == 200


async def test_without_a_token_or_a_cookie_the_field_is_missed(gateway: Gateway) -> None:
    answer = await gateway.client.post("/api/auth/refresh", json={})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body.refresh_token")
    assert (await ask(gateway, "refresh", page(gateway))).status_code == 401


async def test_tabs_that_refresh_at_once_and_lost_answers_end_with_one_and_the_same_token(gateway: Gateway) -> None:
    cookie = cookie_of(await entered(gateway))
    answers = await asyncio.gather(*(refresh(gateway, cookie) for _ in range(6)))
    (following,) = {cookie_of(answer).value for answer in answers}
    lost = await refresh(gateway, cookie)
    assert cookie_of(lost).value == following
    newest = cookie_of(await refresh(gateway, cookie_of(lost)))
    late = cookie_of(await refresh(gateway, cookie))
    assert late.value == newest.value
    assert (await refresh(gateway, late)).status_code == 200


async def test_people_who_share_an_address_do_not_use_up_each_others_refreshes(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    limits = Limits(login_per_minute=0, register_per_hour=0, refresh_per_minute=2)
    counts = redis_server.uri.removesuffix("/0") + "/3"
    async with run_gateway(mongo_server.uri, mongo_database_name, counts, limits=limits) as gateway:
        cookies: list[Morsel[str]] = []
        for name in ("anna", "bert"):
            await gateway.user(name)
            body = {"username": name, "password": f"{name}-password"}
            cookies.append(cookie_of(await ask(gateway, "login", page(gateway), body)))
        codes = [(await refresh(gateway, cookie)).status_code for cookie in cookies for _ in range(3)]
        assert codes == [200, 200, 429] * 2


async def test_an_ended_log_in_uses_up_nothing_of_the_owners_next_one(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    limits = Limits(login_per_minute=0, register_per_hour=0, refresh_per_minute=2)
    counts = redis_server.uri.removesuffix("/0") + "/4"
    async with run_gateway(mongo_server.uri, mongo_database_name, counts, limits=limits) as gateway:
        await gateway.user("anna")
        body = {"username": "anna", "password": "anna-password"}
        stolen, own = [cookie_of(await ask(gateway, "login", page(gateway), body)) for _ in range(2)]
        await refresh(gateway, stolen)
        tried = [(await refresh(gateway, stolen)).status_code for _ in range(3)]
        assert tried[-1] == 429
        assert (await refresh(gateway, own)).status_code == 200


async def test_a_token_used_long_ago_ends_the_log_in(gateway: Gateway) -> None:
    cookie = cookie_of(await entered(gateway))
    newer = cookie_of(await refresh(gateway, cookie))
    await gateway.database["refresh_tokens"].update_many(
        {"again_until": {"$ne": None}}, [{"$set": {"again_until": {"$subtract": ["$$NOW", 1]}}}]
    )
    reused = await refresh(gateway, cookie)
    assert (reused.status_code, reused.json()["code"]) == (401, "token_reused")
    assert (await refresh(gateway, newer)).status_code == 401


async def test_a_used_token_in_a_body_is_theft_at_once(gateway: Gateway) -> None:
    """Also when it is a client's that pretends to be the page."""
    cookie = cookie_of(await entered(gateway))
    newer = cookie_of(await refresh(gateway, cookie))
    stolen = await gateway.client.post("/api/auth/refresh", json={"refresh_token": cookie.value})
    assert stolen.json()["code"] == "token_reused"
    assert (await refresh(gateway, newer)).status_code == 401
    client = (await gateway.client.post("/api/auth/login", json=ANNA)).json()["refresh_token"]
    assert (await gateway.client.post("/api/auth/refresh", json={"refresh_token": client})).status_code == 200
    pretended = await ask(gateway, "refresh", page(gateway), {"refresh_token": client})
    assert pretended.json()["code"] == "token_reused"


async def test_a_token_kept_by_the_page_of_before_is_traded_for_the_cookie(gateway: Gateway) -> None:
    await gateway.user("anna")
    before = (await gateway.client.post("/api/auth/login", json=ANNA)).json()["refresh_token"]
    traded = await asyncio.gather(
        *(ask(gateway, "refresh", page(gateway), {"refresh_token": before}) for _ in range(2))
    )
    assert {answer.json()["refresh_token"] for answer in traded} == {None}
    (one,) = {cookie_of(answer).value for answer in traded}
    assert one != before
    assert (await refresh(gateway, cookie_of(traded[0]))).status_code == 200


async def test_a_cookie_that_somebody_planted_is_neither_taken_nor_used_up(gateway: Gateway) -> None:
    """Beside ours, before it or after it, and alone in its place."""
    answer = await entered(gateway)
    cookie, anna = cookie_of(answer), answer.json()["user"]["id"]
    await gateway.user("mallory")
    mallory = {"username": "mallory", "password": "mallory-password"}
    planted = cookie_of(await ask(gateway, "login", page(gateway), mallory))
    for pair in ((cookie, planted), (planted, cookie)):
        both = page(gateway) | {"Cookie": "; ".join(sent(one)["Cookie"] for one in pair)}
        refused = await ask(gateway, "refresh", both)
        assert (refused.status_code, refused.json()["code"]) == (401, "token_invalid")
        assert "set-cookie" not in refused.headers
        renewed = await ask(gateway, "refresh", both, {"user_id": anna})
        assert (renewed.status_code, renewed.json()["user"]["id"]) == (200, anna)
        cookie = cookie_of(renewed)
    refused = await ask(gateway, "refresh", page(gateway) | sent(planted), {"user_id": anna})
    assert (refused.status_code, refused.json()["code"]) == (401, "token_invalid")
    assert await gateway.database["refresh_tokens"].find_one({"used_at": None, "revoked": True}) is None
    assert (await refresh(gateway, planted)).json()["user"]["username"] == "mallory"


async def test_logging_out_ends_the_cookies_log_in_where_the_access_token_holds_no_longer(gateway: Gateway) -> None:
    cookie = cookie_of(await entered(gateway))
    gateway.client.cookies.clear()
    stale = {"Authorization": "Bearer signed.by.nobody"}
    alone = await gateway.client.post("/api/auth/logout", headers=page(gateway) | stale)
    assert alone.status_code == 401
    left = await gateway.client.post("/api/auth/logout", headers=page(gateway) | sent(cookie) | stale)
    assert (left.status_code, cookie_of(left)["max-age"]) == (204, "0")
    assert (await refresh(gateway, cookie)).status_code == 401


@pytest.mark.parametrize("is_first", [True, False])
async def test_logging_out_ends_our_log_in_beside_a_planted_cookie(gateway: Gateway, is_first: bool) -> None:
    cookie = cookie_of(await entered(gateway))
    pairs = [sent(cookie)["Cookie"], f"{cookie.key}=planted"]
    brought = "; ".join(pairs if is_first else reversed(pairs))
    gateway.client.cookies.clear()
    left = await gateway.client.post("/api/auth/logout", headers=page(gateway) | {"Cookie": brought})
    assert left.status_code == 204
    assert (await refresh(gateway, cookie)).status_code == 401


@pytest.mark.parametrize("call", ["logout", "logout-all"])
async def test_logging_out_ends_the_log_in_and_takes_the_cookie_away(gateway: Gateway, call: str) -> None:
    answer = await entered(gateway)
    cookie = cookie_of(answer)
    token = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    gateway.client.cookies.clear()
    headers = page(gateway) | sent(cookie) | (token if call == "logout-all" else {})
    left = await gateway.client.post(f"/api/auth/{call}", headers=headers)
    assert (left.status_code, cookie_of(left)["max-age"], cookie_of(left).value) == (204, "0", "")
    assert (await refresh(gateway, cookie)).status_code == 401
    assert (await gateway.client.get("/api/auth/me", headers=token)).status_code == 401


async def test_a_changed_password_gives_the_page_a_new_cookie(gateway: Gateway) -> None:
    answer = await entered(gateway)
    token = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    body = {"old_password": "anna-password", "new_password": "quite another"}
    changed = await ask(gateway, "password", page(gateway) | sent(cookie_of(answer)) | token, body)
    assert changed.json()["refresh_token"] is None
    assert (await refresh(gateway, cookie_of(answer))).status_code == 401
    assert (await refresh(gateway, cookie_of(changed))).status_code == 200
