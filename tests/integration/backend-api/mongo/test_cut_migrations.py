"""Changes of what is stored that do not come to their end at once: their process is killed, the database goes away, or
somebody else takes the lock."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from backend_api.conversations.mongo.migrations import MIGRATIONS, migrate
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.mongo.database import Database, Document
from service_kit.migrations import Migration
from support.servers import Server, free_port, run_mongod
from support.sources import python_path

pytestmark = pytest.mark.thorough

LONG_RESULTS = 3_000
LONG_RESULT = (
    '{"type":"tool.finished","call_id":"c","success":true,"preview":"long","body":{"size":4,"media_type":"text/plain"}}'
)
CHANGED: Document = {"output": "long"}


@asynccontextmanager
async def opened(server: Server, name: str) -> AsyncGenerator[Database]:
    async with AsyncMongoClient[dict[str, Any]](server.uri, tz_aware=True, serverSelectionTimeoutMS=1000) as client:
        yield client[name]


async def fill(database: Database) -> None:
    """Long results as they were before the first change: what the model read was made of the body each time."""
    events = [{"session_id": "s", "seq": seq} for seq in range(1, LONG_RESULTS + 1)]
    about = {"type": "tool.finished", "at": datetime.now(UTC), "run_id": "r", "data": LONG_RESULT}
    await database["sessions"].insert_one({"_id": "s", "user_id": "anna"})
    await database["events"].insert_many([event | about for event in events])
    body: Document = {"part": 0, "media_type": "text/plain", "content": b"long"}
    await database["bodies"].create_index([("session_id", 1), ("seq", 1), ("part", 1)], unique=True)
    await database["bodies"].insert_many([event | body for event in events])


async def until_some_are_changed(database: Database) -> None:
    async with asyncio.timeout(60):
        while await database["events"].count_documents(CHANGED) == 0:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def started(server: Server, name: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(("tests", python_path("backend-api")))}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "support.migrating", server.uri, name),
        env=environ,
        cwd=Path(__file__).parents[4],
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_what_a_killed_process_had_not_changed_is_changed_by_the_next(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        await fill(database)
        async with started(mongo_server, mongo_database_name) as first:
            await until_some_are_changed(database)
            first.kill()
            await first.wait()
        changed = await database["events"].count_documents(CHANGED)
        assert 0 < changed < LONG_RESULTS
        assert await database["schema"].find_one({"_id": "version"}) is None
        async with started(mongo_server, mongo_database_name) as second:
            said, _ = await asyncio.wait_for(second.communicate(), 60)
        assert said == b"ready\n"
        assert await database["events"].count_documents(CHANGED) == LONG_RESULTS
        assert await database["schema"].find().to_list() == [{"_id": "version", "version": len(MIGRATIONS)}]


async def test_a_change_goes_on_when_the_database_was_away(tmp_path: Path) -> None:
    port = free_port()
    with run_mongod(tmp_path, port) as server:
        async with opened(server, "app") as database:
            await fill(database)
            changing = asyncio.create_task(migrate(database, MIGRATIONS))
            await until_some_are_changed(database)
            await asyncio.to_thread(server.process.kill)
            await asyncio.to_thread(server.process.wait)
            assert not changing.done()
            with run_mongod(tmp_path, port):
                await asyncio.wait_for(changing, 60)
                assert await database["events"].count_documents(CHANGED) == LONG_RESULTS
                assert await database["schema"].find().to_list() == [{"_id": "version", "version": len(MIGRATIONS)}]


async def test_a_change_goes_on_when_the_database_was_no_primary(tmp_path: Path) -> None:
    with run_mongod(tmp_path) as server:
        async with opened(server, "app") as database:
            await fill(database)
            changing = asyncio.create_task(migrate(database, MIGRATIONS))
            await until_some_are_changed(database)
            await database.client.admin.command({"replSetStepDown": 3, "force": True})
            hello = await database.client.admin.command("hello")
            assert (hello["isWritablePrimary"], changing.done()) == (False, False)
            await asyncio.wait_for(changing, 60)
            assert await database["events"].count_documents(CHANGED) == LONG_RESULTS
            assert await database["schema"].find().to_list() == [{"_id": "version", "version": len(MIGRATIONS)}]


async def test_a_change_that_fails_is_told_at_once(mongo_server: Server, mongo_database_name: str) -> None:
    async def fails(database: Database) -> None:
        await database.command("there is no such command")

    async with opened(mongo_server, mongo_database_name) as database:
        await database["sessions"].insert_one({"_id": "s"})
        with pytest.raises(StoreUnavailableError, match="refused a migration"):
            await asyncio.wait_for(migrate(database, [Migration("fails", fails)]), 5)
        assert await database["schema"].find_one({}) is None


async def test_who_lost_the_lock_ends_its_change_and_waits_for_the_other(
    mongo_server: Server, mongo_database_name: str
) -> None:
    made: list[str] = []
    begun = asyncio.Event()

    async def change(database: Database) -> None:
        made.append("begun")
        begun.set()
        if len(made) == 1:
            try:
                await asyncio.Event().wait()
            finally:
                made.append("ended")

    async with opened(mongo_server, mongo_database_name) as database:
        await database["sessions"].insert_one({"_id": "s"})
        changing = asyncio.create_task(migrate(database, [Migration("a change", change)]))
        await begun.wait()
        until = {"$dateAdd": {"startDate": "$$NOW", "unit": "second", "amount": 4}}
        await database["schema"].update_one({"_id": "lock"}, [{"$set": {"owner": "another", "until": until}}])
        await asyncio.wait_for(changing, 30)
        assert made == ["begun", "ended", "begun"]
        assert await database["schema"].find().to_list() == [{"_id": "version", "version": 1}]
