"""Kinds of sub-agents over HTTP: listed, written, replaced and deleted, each user's alone."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.subagent_kinds import MAX_KINDS
from support.gateway import Gateway

BAKER = {"description": "Bakes, and says how long.", "prompt": "Bake at 220 °C.\nThen wait."}
BUILT_IN = ["general", "explore", "code", "plan", "research"]


async def put(gateway: Gateway, headers: dict[str, str], named: str, **body: Any) -> Any:
    return await gateway.client.put(f"/api/agents/{named}", json={**BAKER, **body}, headers=headers)


async def listed(gateway: Gateway, headers: dict[str, str]) -> list[dict[str, Any]]:
    return (await gateway.client.get("/api/agents", headers=headers)).json()


async def test_one_is_written_replaced_and_deleted_beside_those_of_everybody(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    before = await listed(gateway, anna)
    assert [(one["name"], one["source"]) for one in before] == [(name, "product") for name in BUILT_IN]
    assert [one["name"] for one in before if one["only_reads"]] == ["explore", "plan"]
    limits = {"max_calls": 7, "max_tokens": 8_000, "max_minutes": 9}
    answer = await put(gateway, anna, "baker", tools=["th*k"], model="plain", **limits)
    assert answer.status_code == 200, answer.text
    whole = {"name": "baker", **BAKER, "tools": ["th*k"], "model": "plain", **limits}
    assert answer.json() == {**whole, "only_reads": False, "source": "user", "is_hidden": False}
    assert (await listed(gateway, anna))[-1] == answer.json()
    assert (await put(gateway, anna, "baker", description="Burns.")).json()["tools"] is None
    assert [one["description"] for one in (await listed(gateway, anna))[5:]] == ["Burns."]
    for status in (204, 404):
        gone = await gateway.client.delete("/api/agents/baker", headers=anna)
        assert gone.status_code == status
    assert gone.json()["code"] == "agent_not_found"
    assert await listed(gateway, anna) == before


async def test_those_of_another_user_are_never_seen_replaced_or_deleted(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    await put(gateway, anna, "baker")
    assert [one["name"] for one in await listed(gateway, bert)] == BUILT_IN
    assert (await gateway.client.delete("/api/agents/baker", headers=bert)).status_code == 404
    await put(gateway, bert, "baker", prompt="Mine.")
    assert (await listed(gateway, anna))[-1]["prompt"] == BAKER["prompt"]
    assert (await gateway.client.delete("/api/agents/baker", headers=bert)).status_code == 204
    assert (await listed(gateway, anna))[-1]["prompt"] == BAKER["prompt"]
    for method in ("GET", "PUT", "DELETE"):
        path = "/api/agents" if method == "GET" else "/api/agents/baker"
        assert (await gateway.client.request(method, path)).status_code == 401


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("Baker", {}, "path.name"),
        pytest.param("-baker", {}, "path.name", marks=pytest.mark.thorough),
        pytest.param("b ker", {}, "path.name", marks=pytest.mark.thorough),
        pytest.param("面包师", {}, "path.name", marks=pytest.mark.thorough),
        pytest.param("x" * 41, {}, "path.name", marks=pytest.mark.thorough),
        ("main", {}, "path.name"),
        ("baker", {"description": " "}, "body.description"),
        pytest.param("baker", {"description": "two\nlines"}, "body.description", marks=pytest.mark.thorough),
        pytest.param("baker", {"description": "x" * 301}, "body.description", marks=pytest.mark.thorough),
        pytest.param("baker", {"prompt": ""}, "body.prompt", marks=pytest.mark.thorough),
        pytest.param("baker", {"prompt": "x" * 8_001}, "body.prompt", marks=pytest.mark.thorough),
        pytest.param("baker", {"prompt": "a\x00b"}, "body.prompt", marks=pytest.mark.thorough),
        ("baker", {"prompt": "a\U000e0062"}, "body.prompt"),
        pytest.param("baker", {"description": "a\x1b[2J"}, "body.description", marks=pytest.mark.thorough),
        ("baker", {"tools": ["gone_*"]}, "body.tools"),
        pytest.param("baker", {"tools": "think"}, "body.tools", marks=pytest.mark.thorough),
        pytest.param("baker", {"tools": ["think"] * 101}, "body.tools", marks=pytest.mark.thorough),
        ("baker", {"model": "gone"}, "body.model"),
        pytest.param("baker", {"max_calls": 0}, "body.max_calls", marks=pytest.mark.thorough),
        pytest.param("baker", {"max_tokens": 999}, "body.max_tokens", marks=pytest.mark.thorough),
        ("baker", {"max_minutes": 26}, "body.max_minutes"),
        pytest.param("baker", {"name": "other"}, "body.name", marks=pytest.mark.thorough),
    ],
)
async def test_what_can_not_be_used_is_refused_by_its_field(
    gateway: Gateway, name: str, body: dict[str, Any], field: str
) -> None:
    anna = await gateway.user("anna")
    answer = await put(gateway, anna, name, **body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"].startswith(field)
    assert [one["name"] for one in await listed(gateway, anna)] == BUILT_IN


async def test_none_takes_the_name_of_one_that_everybody_has_and_there_are_not_more_than_allowed(
    gateway: Gateway,
) -> None:
    anna = await gateway.user("anna")
    for name in BUILT_IN:
        answer = await put(gateway, anna, name)
        assert (answer.status_code, answer.json()["code"]) == (409, "agent_name_taken")
    for number in range(MAX_KINDS):
        assert (await put(gateway, anna, f"baker-{number}")).status_code == 200
    answer = await put(gateway, anna, "miller")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_agents")
    assert (await put(gateway, anna, "baker-0", prompt="Anew.")).status_code == 200
