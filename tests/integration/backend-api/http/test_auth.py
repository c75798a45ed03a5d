"""Accounts through the wire."""

from __future__ import annotations

import asyncio

import pytest

from backend_api.identity.application.limits import Limits
from backend_api.kit.http.ports import WebOptions
from support.gateway import Gateway, run_gateway
from support.servers import Server


async def test_registering_logs_in_and_the_first_user_alone_is_admin(gateway: Gateway) -> None:
    names = [f"user{n}" for n in range(4)]
    answers = await asyncio.gather(
        *(
            gateway.client.post("/api/auth/register", json={"username": name, "password": "long enough"})
            for name in names
        )
    )
    assert [answer.status_code for answer in answers] == [201] * 4
    assert [answer.json()["user"]["is_admin"] for answer in answers].count(True) == 1
    body = answers[0].json()
    assert set(body) == {"access_token", "refresh_token", "token_type", "expires_in", "user"}
    me = await gateway.client.get("/api/auth/me", headers={"Authorization": f"Bearer {body['access_token']}"})
    assert me.json()["username"] == "user0"
    assert set(me.json()) == {"id", "username", "email", "is_admin", "created_at"}
    status = (await gateway.client.get("/api/auth/status")).json()
    told = {"mode": "password", "has_users": True, "registration_open": True}
    assert status == told | {"max_upload_bytes": 10 * 1024 * 1024, "user": None}


async def test_a_taken_name_is_a_conflict_whatever_its_case(gateway: Gateway) -> None:
    await gateway.user("anna")
    answer = await gateway.client.post("/api/auth/register", json={"username": "ANNA", "password": "long enough"})
    assert (answer.status_code, answer.json()["code"]) == (409, "username_taken")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"username": "a b", "password": "long enough"}, "body.username"),
        ({"username": "anna", "password": "short"}, "body.password"),
        pytest.param({"username": "anna", "password": "x" * 257}, "body.password", marks=pytest.mark.thorough),
        ({"username": "anna", "password": "long enough", "role": "admin"}, "body.role"),
        pytest.param({"username": 5, "password": "long enough"}, "body.username", marks=pytest.mark.thorough),
    ],
)
async def test_a_wrong_field_is_named(gateway: Gateway, body: dict[str, object], field: str) -> None:
    answer = await gateway.client.post("/api/auth/register", json=body)
    assert answer.status_code == 422
    assert [entry["field"] for entry in answer.json()["errors"]] == [field]


async def test_unknown_user_and_wrong_password_get_the_same_answer(gateway: Gateway) -> None:
    await gateway.user("anna")
    answers = []
    for body in ({"username": "anna", "password": "wrong one"}, {"username": "nobody", "password": "wrong one"}):
        answer = await gateway.client.post("/api/auth/login", json=body)
        assert answer.status_code == 401
        answers.append({key: value for key, value in answer.json().items() if key != "request_id"})
    assert answers[0] == answers[1]
    right = await gateway.client.post("/api/auth/login", json={"username": "Anna", "password": "anna-password"})
    assert right.status_code == 200


async def test_a_refresh_token_holds_once_and_reuse_ends_the_family(gateway: Gateway) -> None:
    body = {"username": "anna", "password": "long enough"}
    first = (await gateway.client.post("/api/auth/register", json=body)).json()
    other = (await gateway.client.post("/api/auth/login", json=body)).json()
    second = await gateway.client.post("/api/auth/refresh", json={"refresh_token": first["refresh_token"]})
    assert second.status_code == 200
    reused = await gateway.client.post("/api/auth/refresh", json={"refresh_token": first["refresh_token"]})
    assert (reused.status_code, reused.json()["code"]) == (401, "token_reused")
    for token in (second.json()["refresh_token"], "unknown"):
        answer = await gateway.client.post("/api/auth/refresh", json={"refresh_token": token})
        assert answer.status_code == 401
    ended = {"Authorization": f"Bearer {second.json()['access_token']}"}
    assert (await gateway.client.get("/api/auth/me", headers=ended)).status_code == 401
    untouched = await gateway.client.post("/api/auth/refresh", json={"refresh_token": other["refresh_token"]})
    assert untouched.status_code == 200


async def test_logging_out_ends_this_log_in_and_logging_out_everywhere_all(gateway: Gateway) -> None:
    body = {"username": "anna", "password": "long enough"}
    grants = [(await gateway.client.post("/api/auth/register", json=body)).json()]
    grants += [(await gateway.client.post("/api/auth/login", json=body)).json() for _ in range(2)]
    headers = [{"Authorization": f"Bearer {grant['access_token']}"} for grant in grants]
    assert (await gateway.client.post("/api/auth/logout", headers=headers[0])).status_code == 204
    codes = [(await gateway.client.get("/api/auth/me", headers=one)).status_code for one in headers]
    assert codes == [401, 200, 200]
    refresh = await gateway.client.post("/api/auth/refresh", json={"refresh_token": grants[0]["refresh_token"]})
    assert refresh.status_code == 401
    assert (await gateway.client.post("/api/auth/logout-all", headers=headers[1])).status_code == 204
    codes = [(await gateway.client.get("/api/auth/me", headers=one)).status_code for one in headers]
    assert codes == [401, 401, 401]


async def test_too_many_tries_are_told_when_to_come_back(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    limits = Limits(login_per_minute=2, register_per_hour=0, messages_per_minute=1)
    # Other tests count calls from the same address.
    counts = redis_server.uri.removesuffix("/0") + "/1"
    async with run_gateway(mongo_server.uri, mongo_database_name, counts, limits=limits) as gateway:
        headers = await gateway.user("limited")
        body = {"username": "limited", "password": "wrong one"}
        codes = [(await gateway.client.post("/api/auth/login", json=body)).status_code for _ in range(2)]
        refused = await gateway.client.post("/api/auth/login", json=body)
        assert (codes, refused.status_code) == ([401, 401], 429)
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        session_id = await gateway.session(headers)
        url = f"/api/sessions/{session_id}/messages"
        assert (await gateway.client.post(url, json={"text": "a"}, headers=headers)).status_code == 202
        assert (await gateway.client.post(url, json={"text": "b"}, headers=headers)).status_code == 429


async def test_local_mode_needs_no_token_and_refuses_strange_hosts_and_pages(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    options = WebOptions(is_local=True)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as gateway:
        assert (await gateway.client.get("/api/auth/me")).json()["username"] == "local"
        assert (await gateway.client.get("/api/auth/me", headers={"Host": "evil.example"})).status_code == 403
        evil = {"Origin": "https://evil.example"}
        assert (await gateway.client.post("/api/sessions", headers=evil)).status_code == 403
        own = {"Origin": gateway.url}
        assert (await gateway.client.post("/api/sessions", headers=own)).status_code == 201
