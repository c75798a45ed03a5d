"""What a killed process had begun does not hold a session for long."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from pymongo.errors import PyMongoError

from backend_api.agent.events import MessageUser
from backend_api.kit.mongo.connection import ORPHAN_S
from backend_api.kit.mongo.database import Database
from backend_api.main.stores import connect
from support.backend_stores import ANNA, mongo_stores
from support.servers import Server, run_mongod

pytestmark = pytest.mark.thorough
HOLD = """
import sys, time
from pymongo import MongoClient
client = MongoClient(sys.argv[1])
session = client.start_session()
session.start_transaction()
client[sys.argv[2]].sessions.update_one({"_id": sys.argv[3]}, {"$set": {"title": "held"}}, session=session)
print("held", flush=True)
time.sleep(600)
"""


async def test_a_transaction_of_a_killed_process_is_over_within_ten_seconds(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        session_id = await stores.session()
        holder = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HOLD, mongo_server.uri, mongo_database_name, session_id),
            stdout=asyncio.subprocess.PIPE,
        )
        assert holder.stdout is not None
        assert await asyncio.wait_for(holder.stdout.readline(), 10) == b"held\n"
        holder.kill()
        await holder.wait()

        async with asyncio.timeout(20):
            accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="still there?"))
        assert accepted.seq == 1


async def test_a_server_that_was_restarted_is_told_again(tmp_path: Path) -> None:
    with run_mongod(tmp_path) as server:
        connected = connect(server.uri, "app")
        database = await connected.__aenter__()
    try:
        with run_mongod(tmp_path, server.port):
            async with asyncio.timeout(20):
                while await _limit_of(database) != ORPHAN_S:
                    await asyncio.sleep(0.1)
    finally:
        await connected.__aexit__(None, None, None)


async def _limit_of(database: Database) -> int | None:
    try:
        told = await database.client.admin.command("getParameter", 1, transactionLifetimeLimitSeconds=1)
    except PyMongoError:
        return None
    return int(told["transactionLifetimeLimitSeconds"])
