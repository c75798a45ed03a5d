"""A commit whose answer never came is no commit until the database says so."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from backend_api.agent.events import MessageUser
from support.backend_stores import ANNA, mongo_stores
from support.flaky_proxy import FlakyProxy
from support.servers import Server

TRIES_OF_THE_DRIVER = 2


async def test_what_was_accepted_is_stored_though_commits_were_lost_on_the_way(
    mongo_server: Server, mongo_database_name: str
) -> None:
    target = urlsplit(mongo_server.uri)
    async with FlakyProxy(target.hostname or "", target.port or 0) as proxy:
        uri = f"mongodb://127.0.0.1:{proxy.port}/?directConnection=true"
        async with mongo_stores(uri, mongo_database_name) as stores, asyncio.timeout(30):
            session_id = await stores.session()
            proxy.tripwire, proxy.trips = b"commitTransaction", TRIES_OF_THE_DRIVER
            accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="Are you there?"))
            assert proxy.trips == 0
            stored = await stores.log.read(session_id, after=0, limit=10)
            assert [event.seq for event in stored] == [1, 2]
            assert accepted.seq == stored[0].seq
