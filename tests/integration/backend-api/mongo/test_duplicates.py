"""Only a message sent again is answered as one; a number given twice is a fault, and nothing is written."""

from __future__ import annotations

import pytest
from pymongo.errors import DuplicateKeyError

from backend_api.agent.events import MessageUser
from backend_api.main.stores import connect
from support.backend_stores import ANNA, mongo_stores
from support.servers import Server


@pytest.mark.parametrize("client_message_id", [None, "c2"])
async def test_a_number_that_is_taken_already_is_not_mistaken_for_a_message_sent_again(
    mongo_server: Server, mongo_database_name: str, client_message_id: str | None
) -> None:
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        session_id = await stores.session()
        await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m1", text="one"))
        async with connect(mongo_server.uri, mongo_database_name) as database:
            await database["sessions"].update_one({"_id": session_id}, {"$set": {"last_seq": 0}})
        second = MessageUser(message_id="m2", text="two", client_message_id=client_message_id)
        with pytest.raises(DuplicateKeyError):
            await stores.ledger.accept(session_id, ANNA, second)
        stored = await stores.log.read(session_id, after=0, limit=10)
    assert [event.payload.type for event in stored] == ["message.user", "run.queued"]
