"""Data of former versions opens in this one: changed once, whoever starts, and read as it was read before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from bson import json_util
from pymongo import AsyncMongoClient

from backend_api.agent.events import RunFinished, ToolFinished
from backend_api.agent.model import FinishPart, TextPart, Turn
from backend_api.agent.thread import Thread
from backend_api.conversations.mongo.migrations import MIGRATIONS, migrate
from backend_api.conversations.ports import EventLog
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database
from backend_api.main.stores import connect
from backend_api.runs.application.run_actor import RunActor
from service_kit.migrations import Migration
from support.backend_stores import mongo_stores
from support.former_data import Place, fill_gateway_database, told
from support.former_data import as_told as in_known_fields
from support.scripted import ScriptedModel
from support.servers import Server
from support.stage import Stage, worker_for

FORMER = Path(__file__).parents[3] / "data" / "stored_before_openings.json"
"""A gateway's whole database with four sessions, one of them in the middle of a run, and what its program sent a model
of each."""


@asynccontextmanager
async def opened(server: Server, name: str) -> AsyncGenerator[Database]:
    async with AsyncMongoClient[dict[str, Any]](server.uri, tz_aware=True) as client:
        yield client[name]


async def fill(database: Database) -> dict[str, Any]:
    stored: dict[str, Any] = json_util.loads(FORMER.read_text(encoding="utf-8"))
    conversations = stored.pop("conversations")
    for name, documents in stored.items():
        if documents:
            await database[name].insert_many(documents)
    return conversations


async def thread_of(log: EventLog, session: str) -> Thread:
    thread = Thread()
    for entry in (await log.read_entries(SessionId(session), after=0, limit=1000))[0]:
        thread.apply(entry.event, entry.output)
    return thread


def as_told(turn: Turn) -> Any:
    """Without what thoughts, calls and results have got since."""
    fields = asdict(turn)
    fields.pop("_made")
    for call in fields.get("calls", ()):
        call.pop("_json")
        assert (call.pop("opaque"), [*call.pop("safety_checks")], call.pop("is_next_action")) == (None, [], False)
    for name in ("pictures", "note", "seq"):
        fields.pop(name, None)
    for thought in fields.get("thinking", ()):
        assert (thought.pop("offset"), thought.pop("opaque")) == (0, None)
    return json.loads(json.dumps([type(turn).__name__, fields]))


async def test_conversations_of_a_former_version_read_as_they_did(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        conversations = await fill(database)
    assert len(conversations) == 4
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        for session, former in conversations.items():
            now = (await thread_of(stores.log, session)).conversation(former["run_id"])
            assert [as_told(turn) for turn in now.turns] == former["turns"]
            assert (now.next_turn, now.is_answered, now.seen_seq) == (
                former["next_turn"],
                former["is_answered"],
                former["seen_seq"],
            )


async def test_conversations_of_a_later_former_version_read_as_they_did(
    mongo_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    place = Place(folder=tmp_path, stack="any")
    fill_gateway_database(mongo_server.uri, mongo_database_name, place)
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        for session, former in told(place).items():
            read = former["model_reads"]
            now = (await thread_of(stores.log, session)).conversation(read["run_id"])
            turns = [[type(turn).__name__, asdict(turn)] for turn in now.turns]
            assert in_known_fields(turns, read["turns"]) == read["turns"]
            assert (now.next_turn, now.is_answered) == (read["next_turn"], read["is_answered"])


async def test_a_run_that_was_at_work_in_a_former_version_goes_on(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        await fill(database)
    async with mongo_stores(mongo_server.uri, mongo_database_name) as stores:
        lease = await stores.ledger.claim("w", lease_s=30, model="m")
        assert lease is not None
        assert lease.has_begun_before
        stage = Stage(ledger=stores.ledger, log=stores.log)  # type: ignore[arg-type]
        stage.sessions = stores.sessions  # type: ignore[assignment]
        worker = worker_for(stage, ScriptedModel([TextPart("Done."), FinishPart("stop")]))
        await RunActor(worker.services, lease).drive(asyncio.Event())
        entries, _ = await stores.log.read_entries(lease.run.session_id, after=9, limit=100)
        payloads = [entry.event.payload for entry in entries]
        types = [payload.type for payload in payloads]
        assert types[-3:] == ["message.completed", "usage.updated", "run.finished"]
        assert [one.success for one in payloads if isinstance(one, ToolFinished)] == [False]
        assert [one.status for one in payloads if isinstance(one, RunFinished)] == ["completed"]


async def test_a_session_whose_deletion_was_cut_off_keeps_nobody_from_starting(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        await fill(database)
        finished = await database["events"].find_one({"type": "tool.finished"})
        assert finished is not None
        data = json.loads(finished["data"]) | {"body": {"size": 3, "media_type": "text/plain"}}
        broken = {"data": json.dumps(data, separators=(",", ":")), "parts": 2}
        await database["events"].update_one({"_id": finished["_id"]}, {"$set": broken})
        await migrate(database, MIGRATIONS)
        assert await database["schema"].find_one({"version": len(MIGRATIONS)}) is not None


async def test_what_runs_of_a_former_version_used_stands_on_them(
    mongo_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    place = Place(folder=tmp_path, stack="any")
    fill_gateway_database(mongo_server.uri, mongo_database_name, place)
    async with opened(mongo_server, mongo_database_name) as database:
        await migrate(database, MIGRATIONS)
        runs = await database["runs"].find({"used": {"$exists": True}}).to_list()
    ended = {
        event["run_id"]: event["usage"]
        for former in told(place).values()
        for event in former["events"]
        if event["type"] == "run.finished" and event["usage"]["by_model"]
    }
    assert {run["_id"]: run["used"]["input"] for run in runs} == {run: usage["input"] for run, usage in ended.items()}


@pytest.mark.thorough
async def test_what_a_former_version_kept_of_model_calls_counts(mongo_server: Server, mongo_database_name: str) -> None:
    beside = {"payload": None, "body": {"size": 700, "media_type": "application/json"}}
    inside = {"payload": {"text": "Done."}, "body": None}
    calls = [("kept", "llm.request", beside), ("kept", "llm.response", inside), ("deleted", "llm.request", beside)]
    async with opened(mongo_server, mongo_database_name) as database:
        await fill(database)
        await database["sessions"].insert_many([{"_id": "kept", "user_id": "anna"}, {"_id": "deleted", "user_id": ""}])
        await database["events"].insert_many(
            [
                {"session_id": session, "seq": seq, "type": kind, "data": json.dumps(data)}
                for seq, (session, kind, data) in enumerate(calls, start=1)
            ]
        )
        await migrate(database, MIGRATIONS)
        counted = await database["kept_calls"].find().to_list()
    assert counted == [{"_id": "kept", "user_id": "anna", "size": 700 + len(json.dumps(inside))}]


async def test_each_change_is_made_once_by_many_that_start_at_once(
    mongo_server: Server, mongo_database_name: str
) -> None:
    made: list[int] = []

    def change(number: int) -> Migration:
        async def run(database: Database) -> None:
            made.append(number)
            await asyncio.sleep(0.1)

        return Migration(f"change {number}", run)

    async with opened(mongo_server, mongo_database_name) as database:
        await database["sessions"].insert_one({"_id": "s"})
        await asyncio.gather(*(migrate(database, [change(1), change(2)]) for _ in range(5)))
        assert made == [1, 2]
        await migrate(database, [change(1), change(2), change(3)])
        assert made == [1, 2, 3]


async def test_a_change_whose_process_ended_is_begun_again_and_those_before_it_are_not(
    mongo_server: Server, mongo_database_name: str
) -> None:
    made: list[str] = []
    begun = asyncio.Event()

    async def first(database: Database) -> None:
        made.append("first")

    async def second(database: Database) -> None:
        made.append("second")
        begun.set()
        if made.count("second") == 1:
            await asyncio.Event().wait()

    changes = [Migration("first", first), Migration("second", second)]
    async with opened(mongo_server, mongo_database_name) as database:
        await database["sessions"].insert_one({"_id": "s"})
        dying = asyncio.create_task(migrate(database, changes))
        await begun.wait()
        waiting = asyncio.create_task(migrate(database, changes))
        dying.cancel()
        await asyncio.wait({dying})
        await asyncio.wait_for(waiting, 30)
        assert made == ["first", "second", "second"]


@pytest.mark.thorough
async def test_the_lock_of_a_process_that_was_killed_lapses(mongo_server: Server, mongo_database_name: str) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        await fill(database)
        until = {"$dateAdd": {"startDate": "$$NOW", "unit": "second", "amount": 2}}
        lock: list[dict[str, Any]] = [{"$set": {"owner": "killed", "until": until}}]
        await database["schema"].update_one({"_id": "lock"}, lock, upsert=True)
        await asyncio.wait_for(migrate(database, MIGRATIONS), 30)
        assert await database["schema"].find_one({"_id": "version"}) == {"_id": "version", "version": len(MIGRATIONS)}
        assert await database["schema"].find_one({"_id": "lock"}) is None


async def test_data_of_a_later_version_is_refused_and_left_alone(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with opened(mongo_server, mongo_database_name) as database:
        later = len(MIGRATIONS) + 1
        await database["schema"].insert_one({"_id": "version", "version": later})
        with pytest.raises(StoreUnavailableError, match=f"of version {later}"):
            async with connect(mongo_server.uri, mongo_database_name):
                pass
        assert await database.list_collection_names() == ["schema"]


async def test_fresh_data_is_of_this_version(mongo_server: Server, mongo_database_name: str) -> None:
    async with connect(mongo_server.uri, mongo_database_name) as database:
        assert await database["schema"].find_one({"_id": "version"}) == {"_id": "version", "version": len(MIGRATIONS)}
