"""A server met before it can be read, new or come back, costs no longer than until it can."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pymongo
import pytest

from backend_api.agent.events import MessageUser
from backend_api.conversations.mongo.session_repository import MongoSessionRepository
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId
from backend_api.main.stores import connect
from backend_api.runs.mongo.run_ledger import MongoRunLedger
from support.backend_stores import ANNA, add_session
from support.servers import run_mongod

HELLO = MessageUser(message_id="m", text="hello")


@pytest.mark.thorough
async def test_a_server_that_was_never_initiated_takes_messages_at_once(tmp_path: Path) -> None:
    with run_mongod(tmp_path, initiated=False) as server:
        async with connect(server.uri, "app") as database:
            session_id = await add_session(MongoSessionRepository(database), ANNA)
            accepted = await MongoRunLedger(database).accept(session_id, ANNA, HELLO)
            assert accepted.seq == 1


@pytest.mark.thorough
async def test_a_server_asked_before_it_can_be_read_takes_messages_when_it_can(tmp_path: Path) -> None:
    with run_mongod(tmp_path / "first") as server:
        connected = connect(server.uri, "app")
        database = await connected.__aenter__()
    try:
        sessions, ledger = MongoSessionRepository(database), MongoRunLedger(database)
        with run_mongod(tmp_path / "second", server.port, initiated=False):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await ledger.accept(SessionId("s"), ANNA, HELLO)
            members = [{"_id": 0, "host": f"127.0.0.1:{server.port}"}]
            with pymongo.MongoClient[dict[str, object]](server.uri) as client:
                client.admin.command("replSetInitiate", {"_id": "rs0", "members": members})
            accepted = await ledger.accept(await _added(sessions), ANNA, HELLO)
            assert accepted.seq == 1
    finally:
        await connected.__aexit__(None, None, None)


async def _added(sessions: MongoSessionRepository) -> SessionId:
    """A session, once the server is elected."""
    async with asyncio.timeout(15):
        while True:
            try:
                return await add_session(sessions, ANNA)
            except StoreUnavailableError:
                await asyncio.sleep(0.05)
