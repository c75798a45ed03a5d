"""Changing the password through the wire."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import httpx
import pytest

from backend_api.identity.application.limits import Limits
from backend_api.kit.http.ports import WebOptions
from support.gateway import Gateway, run_gateway
from support.servers import Server

OLD = "anna-password"
NEW = "quite another one"


async def change(gateway: Gateway, headers: dict[str, str], old: str = OLD, new: str = NEW) -> httpx.Response:
    body = {"old_password": old, "new_password": new}
    return await gateway.client.post("/api/auth/password", json=body, headers=headers)


async def log_in(gateway: Gateway, password: str) -> httpx.Response:
    return await gateway.client.post("/api/auth/login", json={"username": "anna", "password": password})


def bearer(answer: httpx.Response) -> dict[str, str]:
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


async def test_a_new_password_takes_the_place_of_the_old_one_and_of_every_log_in(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    other = await log_in(gateway, OLD)
    changed = await change(gateway, anna)
    assert changed.status_code == 200
    assert set(changed.json()) == {"access_token", "refresh_token", "token_type", "expires_in", "user"}
    for headers in (anna, bearer(other)):
        assert (await gateway.client.get("/api/auth/me", headers=headers)).status_code == 401
    late = await gateway.client.post("/api/auth/refresh", json={"refresh_token": other.json()["refresh_token"]})
    assert late.status_code == 401
    assert (await gateway.client.get("/api/auth/me", headers=bearer(changed))).json()["username"] == "anna"
    mine = await gateway.client.post("/api/auth/refresh", json={"refresh_token": changed.json()["refresh_token"]})
    assert mine.status_code == 200
    assert ((await log_in(gateway, OLD)).status_code, (await log_in(gateway, NEW)).status_code) == (401, 200)


@pytest.mark.parametrize(
    ("old", "new", "code", "field"),
    [
        ("wrong one", NEW, "wrong_password", "body.old_password"),
        ("x" * 300, NEW, "wrong_password", "body.old_password"),
        (OLD, "short", "invalid", "body.new_password"),
        (OLD, "x" * 257, "invalid", "body.new_password"),
        (OLD, OLD, "invalid", "body.new_password"),
    ],
)
async def test_what_is_wrong_is_told_by_field_and_ends_no_log_in(
    gateway: Gateway, old: str, new: str, code: str, field: str
) -> None:
    anna = await gateway.user("anna")
    answer = await change(gateway, anna, old, new)
    assert answer.status_code == 422
    problem: dict[str, Any] = answer.json()
    assert (problem["code"], [error["field"] for error in problem["errors"]]) == (code, [field])
    assert (await gateway.client.get("/api/auth/me", headers=anna)).status_code == 200
    assert (await log_in(gateway, OLD)).status_code == 200


async def test_of_changes_at_once_one_wins(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    wanted = [f"the new password {number}" for number in range(5)]
    answers = await asyncio.gather(*(change(gateway, anna, OLD, new) for new in wanted))
    assert sorted(answer.status_code for answer in answers)[0] == 200
    assert {answer.status_code for answer in answers[1:]} <= {200, 401, 409}
    winners = [new for new, answer in zip(wanted, answers, strict=True) if answer.status_code == 200]
    assert len(winners) == 1
    assert (await log_in(gateway, winners[0])).status_code == 200


async def test_guesses_of_the_old_password_are_limited(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    limits = Limits(login_per_minute=3, register_per_hour=0)
    counts = redis_server.uri.removesuffix("/0") + "/2"
    async with run_gateway(mongo_server.uri, mongo_database_name, counts, limits=limits) as gateway:
        anna = await gateway.user("anna")
        codes = [(await change(gateway, anna, f"guess {number}")).status_code for number in range(4)]
        assert codes == [422, 422, 422, 429]


async def test_changes_that_succeed_are_limited_over_every_log_in_they_begin(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    limits = Limits(login_per_minute=2, register_per_hour=0, password_changes_per_hour=3)
    counts = redis_server.uri.removesuffix("/0") + "/2"
    async with run_gateway(mongo_server.uri, mongo_database_name, counts, limits=limits) as gateway:
        anna, bert = await gateway.user("anna"), await gateway.user("bert")
        passwords = [OLD, *(f"the new password {number}" for number in range(4))]
        assert (await change(gateway, anna, OLD, OLD)).status_code == 422, "what changes nothing is not counted"
        for old, new in pairwise(passwords[:-1]):
            changed = await change(gateway, anna, old, new)
            assert changed.status_code == 200, new
            anna = bearer(changed)
        for headers in (anna, bearer(await log_in(gateway, passwords[3]))):
            refused = await change(gateway, headers, passwords[3], passwords[4])
            assert (refused.status_code, refused.json()["code"], refused.json()["retryable"]) == (429, "limit", True)
            assert 60 < int(refused.headers["retry-after"]) <= 3600
        assert (await gateway.client.get("/api/auth/me", headers=anna)).status_code == 200
        assert (await change(gateway, bert, "bert-password", NEW)).status_code == 200


async def test_who_has_no_password_is_told_so(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    options = WebOptions(is_local=True)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as gateway:
        answer = await change(gateway, {})
        assert (answer.status_code, answer.json()["code"]) == (403, "no_password")
