"""Records of runs that wait, in whatever state they are found at their deadline."""

from __future__ import annotations

import pytest

from backend_api.agent.events import MessageUser, Question
from backend_api.agent.questions import Answers, Questions
from backend_api.agent.waits import Wait
from backend_api.conversations.domain.entity import RunId, RunStatus
from backend_api.conversations.domain.errors import QuestionAnsweredError
from backend_api.kit.ids import SessionId
from backend_api.main.stores import connect
from support.backend_stores import ANNA, ConversationStores, mongo_stores
from support.servers import Server


async def waiting(stores: ConversationStores) -> tuple[SessionId, RunId]:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    lease = await stores.ledger.claim("w1", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    asked = Questions(call_id="c", questions=[Question(id="q1", text="?")])
    assert await stores.ledger.wait(lease, [Wait(id="a", subject=asked, expires_s=-1)], read_seq=0)
    return session_id, lease.run.id


@pytest.mark.parametrize("fault", ["deleted", "gone", "broken"])
async def test_a_wait_of_a_session_that_is_gone_is_over_and_a_broken_one_keeps_no_others(
    mongo_server: Server, mongo_database_name: str, fault: str
) -> None:
    async with (
        mongo_stores(mongo_server.uri, mongo_database_name) as stores,
        connect(mongo_server.uri, mongo_database_name) as database,
    ):
        session_id, run_id = await waiting(stores)
        match fault:
            case "deleted":
                # As left by a process that was killed amid a deletion.
                disowned = {"$set": {"user_id": "", "owner": ANNA, "active_run_id": None}}
                await database["sessions"].update_one({"_id": session_id}, disowned)
            case "gone":
                await database["sessions"].delete_one({"_id": session_id})
            case _:
                await database["runs"].update_one({"_id": run_id}, {"$unset": {"waits.0.kind": 1}})
        _, other = await waiting(stores)
        assert sorted(await stores.waits.due()) == sorted([run_id, other])
        if fault == "broken":
            with pytest.raises(KeyError):
                await stores.waits.expire(run_id)
        else:
            assert await stores.waits.expire(run_id) is None
            run = await stores.ledger.get(run_id)
            assert run is not None
            assert run.status == RunStatus.STOPPED
            assert await stores.waits.due() == [other]
        assert await stores.waits.expire(other) is not None


async def test_the_record_of_a_run_that_was_stopped_waits_for_nothing(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with (
        mongo_stores(mongo_server.uri, mongo_database_name) as stores,
        connect(mongo_server.uri, mongo_database_name) as database,
    ):
        session_id, run_id = await waiting(stores)
        assert await stores.ledger.request_stop(session_id, ANNA) is not None
        record = await database["runs"].find_one({"_id": run_id})
        assert record is not None
        assert (record["status"], record["waits"], record["wait_until"]) == ("stopped", [], None)
        assert await stores.waits.due() == []
        with pytest.raises(QuestionAnsweredError):
            await stores.waits.answer(session_id, ANNA, "a", Answers({"q1": "yes"}))
