"""Whoever works on a store goes on with what a process that died left of a deletion."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from respx import MockRouter

from backend_api.conversations.domain.deletions import Deleted
from backend_api.main.runtime import open_runtime
from backend_api.main.stores import connect
from support.backend_stores import ANNA, mongo_stores
from support.planned import local_plan
from support.servers import Server

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


async def test_a_computer_left_by_a_dead_gateway_is_removed_by_the_next_process(
    mongo_server: Server,
    redis_server: Server,
    mongo_database_name: str,
    tmp_path: Path,
    respx_mock: MockRouter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        session_id = await stores.session()
        await stores.sessions.delete(session_id, ANNA)  # and here the gateway died
        forgotten = stores.deletions(0.0)
        assert await forgotten.claim_next() == Deleted(session_id=session_id, user_id=ANNA)
        await _let_time_pass(mongo_server.uri, mongo_database_name)

        given = {
            "MONGO_URI": mongo_server.uri,
            "MONGO_DB_NAME": mongo_database_name,
            "REDIS_URL": redis_server.uri,
            "SANDBOX_MANAGER_URL": "http://manager",
            "SANDBOX_MANAGER_TOKEN": "m" * 32,
        }
        planned = local_plan(monkeypatch, tmp_path, **given)
        deleted = respx_mock.delete(f"http://manager/workspaces/{session_id}", params={"user_id": ANNA}).respond(204)
        async with asyncio.timeout(30), open_runtime(planned, is_gateway=False):
            while not deleted.called:
                await asyncio.sleep(0.05)
            while await forgotten.claim_next() is not None:
                await asyncio.sleep(0.05)


async def _let_time_pass(uri: str, name: str) -> None:
    async with connect(uri, name) as database:
        await database["sessions"].update_one({"user_id": ""}, {"$set": {"deleted_at": LONG_AGO}})
