"""Whoever works on a store goes on with what a process that died left of a deletion."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr
from respx import MockRouter

from backend_api.conversations.domain.deletions import Deleted
from backend_api.main.database import connect
from backend_api.main.runtime import open_runtime, plan
from backend_api.main.settings import Settings
from support.backend_stores import ANNA, mongo_stores
from support.servers import Server

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


async def test_a_computer_left_by_a_dead_gateway_is_removed_by_the_next_process(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path, respx_mock: MockRouter
) -> None:
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        session_id = await stores.session()
        await stores.sessions.delete(session_id, ANNA)  # and here the gateway died
        forgotten = stores.deletions(0.0)
        assert await forgotten.claim_next() == Deleted(session_id=session_id, user_id=ANNA)
        await _let_time_pass(mongo_server.uri, mongo_database_name)

        settings = Settings(
            mongo_uri=mongo_server.uri,
            mongo_db_name=mongo_database_name,
            redis_url=redis_server.uri,
            data_dir=tmp_path,
            jwt_secret_key=SecretStr("0123456789abcdef" * 3),
            sandbox_manager_url="http://manager",
            sandbox_manager_token=SecretStr("m" * 32),
        )
        deleted = respx_mock.delete(f"http://manager/workspaces/{session_id}", params={"user_id": ANNA}).respond(204)
        async with asyncio.timeout(30), open_runtime(plan(settings)):
            while not deleted.called:
                await asyncio.sleep(0.05)
            while await forgotten.claim_next() is not None:
                await asyncio.sleep(0.05)


async def _let_time_pass(uri: str, name: str) -> None:
    async with connect(uri, name) as database:
        await database["sessions"].update_one({"user_id": ""}, {"$set": {"deleted_at": LONG_AGO}})
