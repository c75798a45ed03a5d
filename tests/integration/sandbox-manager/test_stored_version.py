"""What managers store has a version: a manager of before leaves what a later one wrote alone, and says so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

from sandbox_manager.domain.errors import RegistryUnavailableError
from sandbox_manager.infrastructure.mongo import migrations
from sandbox_manager.infrastructure.mongo.connect import connected, load_token_keys
from sandbox_manager.infrastructure.mongo.migrations import MIGRATIONS, VERSIONS
from service_kit.migrations import Migration
from support.managers import manager_over
from support.servers import Server, free_port

LATER = {"_id": "version", "version": len(MIGRATIONS) + 1}


@asynccontextmanager
async def opened(server: Server, name: str) -> AsyncGenerator[AsyncDatabase[dict[str, Any]]]:
    async with AsyncMongoClient[dict[str, Any]](server.uri, tz_aware=True) as client:
        yield client[name]


async def test_what_a_later_manager_wrote_is_refused_and_left_alone(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        await database[VERSIONS].insert_one(LATER)
        with pytest.raises(RegistryUnavailableError, match=f"of version {LATER['version']}"):
            async with connected(mongo_server.uri, mongo_database_name):
                pass
        assert await database.list_collection_names() == [VERSIONS]
        assert await database[VERSIONS].find().to_list() == [LATER]


async def test_a_fresh_database_is_of_the_newest_version_and_the_gateways_is_another(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        await database["schema"].insert_one({"_id": "version", "version": 1_000})
        async with connected(mongo_server.uri, mongo_database_name):
            pass
        assert await database[VERSIONS].find().to_list() == [{"_id": "version", "version": len(MIGRATIONS)}]


async def test_what_was_stored_before_there_were_versions_is_changed_once(
    mongo_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def change(database: AsyncDatabase[dict[str, Any]]) -> None:
        await database["workspaces"].update_many({}, {"$inc": {"changed": 1}})

    async with opened(mongo_server, mongo_database_name) as database:
        async with connected(mongo_server.uri, mongo_database_name):
            await load_token_keys()
        await database.drop_collection(VERSIONS)
        # No sandbox: nobody had one for so long that their records are forgotten.
        await database["workspaces"].insert_one({"_id": "workspace"})
        monkeypatch.setattr(migrations, "MIGRATIONS", (Migration("a change", change),))
        for _ in range(2):
            async with connected(mongo_server.uri, mongo_database_name):
                pass
        assert await database["workspaces"].find().to_list() == [{"_id": "workspace", "changed": 1}]
        assert await database[VERSIONS].find().to_list() == [{"_id": "version", "version": 1}]


async def test_a_manager_says_why_it_can_not_start(mongo_server: Server, mongo_database_name: str) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        await database[VERSIONS].insert_one(LATER)
    with manager_over(mongo_server, mongo_database_name) as manager:
        environment = {**manager.settings, "MANAGER_PORT": str(free_port())}
        command = [sys.executable, "-m", "sandbox_manager"]
        done = subprocess.run(command, env=environment, capture_output=True, timeout=60, text=True)  # noqa: ASYNC221
    told = done.stdout + done.stderr
    assert done.returncode == 3
    assert "Start the program that wrote it, or a later one" in told
    assert "Traceback" not in told
