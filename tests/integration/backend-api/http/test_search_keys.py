"""Keys of users for searching the web, through the wire."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from backend_api.settings.domain.table import BRAVE_API_KEY
from backend_api.settings.mongo.user_settings import MongoSettingsStore
from support.gateway import MODEL, RIGHT_KEY, SPENT_KEY, Gateway, run_gateway
from support.servers import Server
from support.user_settings import settings_parts

PATH = "/api/settings/search/brave_api_key"


@pytest.fixture
async def of_brave(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Gateway]:
    """A gateway that asks Brave alone with keys of users."""
    own = replace(settings_parts(MongoSettingsStore(), MODEL), search_keys=frozenset({BRAVE_API_KEY}))
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, own=own) as running:
        yield running


async def test_a_key_is_kept_sealed_told_by_its_end_tried_and_nobody_elses(of_brave: Gateway) -> None:
    anna, ben = await of_brave.user("anna"), await of_brave.user("ben")
    kept = await of_brave.client.put(PATH, json={"value": RIGHT_KEY}, headers=anna)
    assert (kept.status_code, kept.json()["value"], kept.json()["ends_with"]) == (200, None, RIGHT_KEY[-4:])
    stored = [document async for document in of_brave.database.get_collection("user_settings").find({})]
    assert RIGHT_KEY not in str(stored)
    assert "brave_api_key" in str(stored)
    tried = await of_brave.client.post("/api/settings/search/test", json={"provider": "brave"}, headers=anna)
    assert (tried.status_code, tried.json()) == (200, {"outcome": "ok", "detail": ""})
    for key, outcome in ((SPENT_KEY, "limit"), ("wrong", "wrong_key")):
        body = {"provider": "brave", "key": key}
        tried = (await of_brave.client.post("/api/settings/search/test", json=body, headers=ben)).json()
        assert tried["outcome"] == outcome
        assert key not in tried["detail"]
    nothing = await of_brave.client.post("/api/settings/search/test", json={"provider": "brave"}, headers=ben)
    assert (nothing.status_code, nothing.json()["errors"][0]["field"]) == (422, "body.key")


async def test_a_key_that_nobody_would_be_asked_with_is_neither_offered_kept_nor_tried(of_brave: Gateway) -> None:
    anna = await of_brave.user("anna")
    listed = (await of_brave.client.get("/api/settings", headers=anna)).json()
    offered = {one["key"]: one["may_set"] for one in listed if one["category"] == "search"}
    assert offered == {"tavily_api_key": False, "brave_api_key": True, "serper_api_key": False}
    path = "/api/settings/search/serper_api_key"
    refused = await of_brave.client.put(path, json={"value": RIGHT_KEY}, headers=anna)
    assert (refused.status_code, "SEARCH_PROVIDER" in refused.json()["detail"]) == (422, True)
    assert (await of_brave.client.delete(path, headers=anna)).status_code == 200
    for provider in ("serper", "duckduckgo", ""):
        body = {"provider": provider, "key": RIGHT_KEY}
        refused = await of_brave.client.post("/api/settings/search/test", json=body, headers=anna)
        assert refused.status_code == 422
