"""Whoever works on a store goes on with what a process that died left of a deletion."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from backend_api.bootstrap.runtime import open_runtime, plan
from backend_api.bootstrap.settings import Settings
from backend_api.domain.conversation.deletions import Deleted
from backend_api.infrastructure.mongo.connection import connect
from support.backend_stores import ANNA, mongo_stores
from support.servers import Server

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


class Manager:
    """Answers everything with 204 and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                await reader.readuntil(b"\r\n\r\n")
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                self.asked.put_nowait(line.decode().rpartition(" ")[0])
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


async def test_a_computer_left_by_a_dead_gateway_is_removed_by_the_next_process(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    manager = Manager()
    server = await asyncio.start_server(manager, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, mongo_stores(mongo_server.uri, mongo_database_name) as stores:
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
            sandbox_manager_url=f"http://127.0.0.1:{port}",
            sandbox_manager_token=SecretStr("m" * 32),
        )
        async with asyncio.timeout(30), open_runtime(plan(settings)):
            assert await manager.asked.get() == f"DELETE /workspaces/{session_id}?user_id={ANNA}"
            while await forgotten.claim_next() is not None:
                await asyncio.sleep(0.05)


async def _let_time_pass(uri: str, name: str) -> None:
    async with connect(uri, name) as database:
        await database["sessions"].update_one({"user_id": ""}, {"$set": {"deleted_at": LONG_AGO}})
