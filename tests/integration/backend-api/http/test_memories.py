"""What the agent remembers of a user, over HTTP."""

from __future__ import annotations

import httpx
import pytest

from support.gateway import Gateway, run_gateway
from support.servers import Server

TEA = "/api/memories/likes/tea.md"


async def test_one_is_listed_read_written_as_it_was_read_and_deleted(gateway: Gateway) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    empty = (await http.get("/api/memories", headers=anna)).json()
    assert empty == {"is_enabled": True, "items": [], "size": 0, "max_size": 65536, "max_file_size": 4096}
    made = await http.put(TEA, json={"content": "Likes tea"}, headers=anna)
    assert made.status_code == 200
    etag = made.headers["ETag"]
    assert made.json() == {"path": "likes/tea.md", "content": "Likes tea", "size": 9, "etag": etag.strip('"')}
    read = await http.get(TEA, headers=anna)
    assert (read.json(), read.headers["ETag"]) == (made.json(), etag)
    listed = (await http.get("/api/memories", headers=anna)).json()
    assert listed["items"] == [{"path": "likes/tea.md", "size": 9, "etag": etag.strip('"')}]
    changed = await http.put(TEA, json={"content": "Likes coffee"}, headers={**anna, "If-Match": etag})
    assert changed.headers["ETag"] != etag
    assert_problem(await http.put(TEA, json={"content": "x"}, headers={**anna, "If-Match": etag}), 412)
    assert_problem(await http.put(TEA, json={"content": "x", "if_match": etag}, headers=anna), 412)
    assert_problem(await http.delete(TEA, headers={**anna, "If-Match": etag}), 412)
    assert_problem(await http.delete(TEA, headers=anna), 412)
    assert_problem(await http.put(TEA, json={"content": "x"}, headers=anna), 409, "memory_exists")
    assert (await http.get(TEA, headers=anna)).json()["content"] == "Likes coffee"
    gone = await http.delete(TEA, headers={**anna, "If-Match": changed.headers["ETag"]})
    assert gone.status_code == 204
    assert_problem(await http.get(TEA, headers=anna), 404, "memory_not_found")
    assert_problem(await http.delete(TEA, headers={**anna, "If-Match": "*"}), 404, "memory_not_found")


async def test_nobody_sees_or_changes_those_of_somebody_else(gateway: Gateway) -> None:
    http, anna, bert = gateway.client, await gateway.user("anna"), await gateway.user("bert")
    await http.put(TEA, json={"content": "Likes tea"}, headers=anna)
    assert (await http.get("/api/memories", headers=bert)).json()["items"] == []
    assert_problem(await http.get(TEA, headers=bert), 404, "memory_not_found")
    assert_problem(await http.delete(TEA, headers={**bert, "If-Match": "*"}), 404, "memory_not_found")
    assert (await http.put(TEA, json={"content": "Mine"}, headers=bert)).status_code == 200
    assert (await http.get(TEA, headers=anna)).json()["content"] == "Likes tea"
    assert (await http.get("/api/memories")).status_code == 401


async def test_what_does_not_fit_is_refused(gateway: Gateway) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    assert_problem(await http.put(TEA, json={"content": "x" * 4097}, headers=anna), 413, "memory_too_large")
    assert_problem(await http.put(TEA, json={"content": "sk-abcdefghijklmnop1234"}, headers=anna), 422)
    assert_problem(await http.put("/api/memories/a%3Cb", json={"content": "x"}, headers=anna), 422, "memory_invalid")
    assert (await http.get("/api/memories", headers=anna)).json()["size"] == 0


async def test_a_server_that_keeps_none_says_so(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENABLE_MEMORY", "false")
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway:
        http, anna = gateway.client, await gateway.user("anna")
        assert (await http.get("/api/memories", headers=anna)).json()["is_enabled"] is False
        for answer in (
            await http.get(TEA, headers=anna),
            await http.put(TEA, json={"content": "x"}, headers=anna),
            await http.delete(TEA, headers={**anna, "If-Match": "*"}),
        ):
            assert_problem(answer, 404, "memory_disabled")


async def test_a_nul_is_refused_and_what_is_not_there_is_not_deleted(gateway: Gateway) -> None:
    http, anna = gateway.client, await gateway.user("anna")
    refused = await http.put(TEA, json={"content": "a\0b"}, headers=anna)
    assert_problem(refused, 422)
    assert "NUL" in refused.json()["detail"]
    assert_problem(await http.delete(TEA, headers=anna), 404)


def assert_problem(answer: httpx.Response, status: int, code: str | None = None) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert code in {None, answer.json()["code"]}
