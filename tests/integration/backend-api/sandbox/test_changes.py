"""What a manager tells of computers reaches the session's stream once, whoever listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

import httpx
import pytest

from backend_api.agent.events import Notice, SandboxUpdated
from backend_api.computers.application.publish_changes import PublishSandboxChanges
from backend_api.computers.mongo import MongoSandboxChangeLog
from backend_api.conversations.mongo.change_cursor import MongoChangeCursor
from backend_api.conversations.mongo.event_log import MongoEventLog
from backend_api.conversations.mongo.session_repository import MongoSessionRepository
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database
from backend_api.main.stores import connect
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.manager.changes import ManagerSandboxChanges
from backend_api.sandboxes.manager.rest import manager_http
from contracts.sandboxes import Sandbox as WireSandbox
from service_kit.bounded_http import BoundedHttp
from support.answering import AnsweringTransport
from support.backend_stores import ANNA, add_session
from support.memory.session_stream import MemorySessionStream
from support.servers import Server

ENDS = "2026-01-02T00:00:00Z"


def frame(number: int, session_id: str, status: str, **fields: object) -> str:
    sandbox = WireSandbox.model_validate(
        {
            "id": "b1",
            "session_id": session_id,
            "user_id": ANNA,
            "generation": 1,
            "runtime": "fake",
            "status": status,
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": ENDS,
            "idle_expires_at": ENDS,
            "revision": number,
            **fields,
        }
    )
    return f"id: {number:02}\nevent: sandbox\ndata: {sandbox.model_dump_json()}\n\n"


class Manager:
    """Tells its frames after the mark it is given, then breaks off. `forgot`: it no longer knows any mark."""

    def __init__(self, frames: list[str]) -> None:
        self.frames = frames
        self.marks: list[str | None] = []
        self.forgot = False
        self.newest = ""

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/sandboxes":
            newest = self.newest or self.frames[-1].partition("data: ")[2]
            return httpx.Response(200, content=f'{{"items": [{newest}]}}')
        if self.forgot and "last-event-id" in request.headers:
            return httpx.Response(404)
        if self.forgot:
            return httpx.Response(200, content=b"")
        mark = request.headers.get("last-event-id")
        self.marks.append(mark)

        async def told() -> AsyncIterator[bytes]:
            for one in self.frames:
                if mark is None or one[4:6] > mark:
                    yield one.encode()

        return httpx.Response(200, content=told())


def teller(client: BoundedHttp, database: Database) -> PublishSandboxChanges:
    return PublishSandboxChanges(
        ManagerSandboxChanges(client, MongoChangeCursor()),
        MongoSandboxChangeLog(database),
        MemorySessionStream(),
    )


@pytest.mark.timeout(60)
async def test_each_news_is_told_once_by_two_gateways_and_only_what_is_worth_it(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(connect(mongo_server.uri, mongo_database_name))
        sessions = MongoSessionRepository(database)
        session_id = await add_session(sessions, ANNA)
        # As a version stored it that did not keep when something was said last.
        await database["sessions"].update_one({"_id": session_id}, {"$unset": {"active_at": ""}})
        before = await sessions.get(session_id, ANNA)
        manager = Manager(
            [
                frame(1, session_id, "starting"),
                frame(2, session_id, "ready"),
                frame(3, session_id, "ready", notice="It ends in 5 minutes."),
                frame(4, session_id, "ready"),
                frame(5, session_id, "paused"),
                frame(6, session_id, "ready"),
                frame(7, session_id, "gone", reason="It died."),
                frame(8, "another", "gone"),
            ]
        )
        clients = [
            await stack.enter_async_context(
                aclosing(manager_http("http://manager", "token", AnsweringTransport(manager)))
            )
            for _ in range(2)
        ]
        tellers = [teller(client, database) for client in clients]

        await asyncio.gather(*(one.publish_changes() for one in tellers))
        await tellers[0].publish_changes()

        stored = await MongoEventLog(database).read(session_id, after=0, limit=100)
        after = await sessions.get(session_id, ANNA)

    assert (after.active_at, after.updated_at > before.updated_at) == (before.active_at, True)
    told = [(event.payload.status, event.payload.reason) for event in stored]  # type: ignore[union-attr]
    assert told == [
        ("ready", "It ends in 5 minutes."),
        ("ready", None),
        ("paused", None),
        ("ready", None),
        ("gone", "It died."),
    ]
    assert manager.marks[-1] == "08"


async def told(database: Database, session_id: SessionId) -> list[object]:
    stored = await MongoEventLog(database).read(session_id, after=0, limit=100)
    return [
        event.payload.text if isinstance(event.payload, Notice) else getattr(event.payload, "reason", None)
        for event in stored
    ]


@pytest.mark.timeout(60)
async def test_a_gateway_that_comes_back_hears_what_it_missed_and_so_it_does_when_the_mark_is_lost(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(connect(mongo_server.uri, mongo_database_name))
        session_id = await add_session(MongoSessionRepository(database), ANNA)
        manager = Manager([frame(1, session_id, "ready", notice="Soon.")])
        client = await stack.enter_async_context(
            aclosing(manager_http("http://manager", "token", AnsweringTransport(manager)))
        )
        await teller(client, database).publish_changes()

        manager.frames.append(frame(2, session_id, "paused", reason="Nobody was there."))
        await teller(client, database).publish_changes()  # another one, or the same after a restart
        assert manager.marks == [None, "01"]
        assert await told(database, session_id) == ["Soon.", "Nobody was there."]

        manager.frames.append(frame(3, session_id, "gone", reason="It died."))
        manager.forgot = True
        late = teller(client, database)
        with pytest.raises(SandboxUnavailableError):
            await late.publish_changes()
        await late.publish_changes()
        assert await told(database, session_id) == ["Soon.", "Nobody was there.", "It died."]


@asynccontextmanager
async def one_session(uri: str, name: str, manager: Manager) -> AsyncGenerator[tuple[Database, SessionId, BoundedHttp]]:
    """A database with one session of Anna, and a way to the manager."""
    async with (
        connect(uri, name) as database,
        aclosing(manager_http("http://manager", "token", AnsweringTransport(manager))) as client,
    ):
        yield database, await add_session(MongoSessionRepository(database), ANNA), client


def sandbox_in(one: str) -> str:
    return one.partition("data: ")[2]


@pytest.mark.timeout(60)
async def test_a_start_that_is_given_up_is_no_computer_that_was_shut_down(
    mongo_server: Server, mongo_database_name: str
) -> None:
    manager = Manager([])
    async with one_session(mongo_server.uri, mongo_database_name, manager) as (database, session_id, client):
        log = MongoEventLog(database)

        async def given_up(number: int, newest: str = "") -> list[tuple[str, str | None]]:
            """What is told since one was announced to start, as that is given up."""
            (start,) = await log.append(session_id, [SandboxUpdated(status="starting", queue_position=1)])
            left = frame(number, session_id, "gone", generation=number, was_never_there=True, reason="It was deleted.")
            manager.frames.append(left)
            manager.newest = sandbox_in(newest)
            await teller(client, database).publish_changes()
            stored = await log.read(session_id, after=start.seq or 0, limit=100)
            return [(event.payload.status, event.payload.reason) for event in stored]  # type: ignore[union-attr]

        assert await given_up(1) == [("none", None)]
        # It is wanted again, and that is what stands in the stream already.
        assert await given_up(2, frame(1, session_id, "starting", generation=3)) == []
        assert await given_up(4, frame(9, session_id, "gone", generation=3, reason="It was idle.")) == [
            ("gone", "It was idle.")
        ]
        assert await given_up(6, frame(2, session_id, "failed", generation=5, reason="No memory.")) == [
            ("failed", "No memory.")
        ]
        # Nobody was told of a start: nothing is taken back.
        manager.frames.append(frame(7, session_id, "gone", generation=7, was_never_there=True))
        manager.newest = ""
        before = (await log.heads([session_id]))[session_id]
        await teller(client, database).publish_changes()
        assert (await log.heads([session_id]))[session_id] == before


@pytest.mark.timeout(60)
async def test_a_start_that_no_run_waits_for_any_more_is_told_once_its_computer_is_there(
    mongo_server: Server, mongo_database_name: str
) -> None:
    manager = Manager([])
    async with one_session(mongo_server.uri, mongo_database_name, manager) as (database, session_id, client):
        log = MongoEventLog(database)

        async def told_when_ready(generation: int, *, status: str) -> list[str]:
            await database["sessions"].update_one({"_id": session_id}, {"$set": {"status": status}})
            (start,) = await log.append(session_id, [SandboxUpdated(status="starting")])
            for number in (2, 3):
                manager.frames.append(frame(generation * 10 + number, session_id, "ready", generation=generation))
            await teller(client, database).publish_changes()
            stored = await log.read(session_id, after=start.seq or 0, limit=100)
            return [event.payload.status for event in stored]  # type: ignore[union-attr]

        assert await told_when_ready(1, status="idle") == ["ready"]
        # The run that waits tells of it.
        assert await told_when_ready(2, status="running") == []


@pytest.mark.timeout(60)
async def test_files_that_take_up_nearly_all_they_may_are_told_once_for_each_time(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(connect(mongo_server.uri, mongo_database_name))
        session_id = await add_session(MongoSessionRepository(database), ANNA)
        manager = Manager(
            [
                frame(2, session_id, "ready", disk_notice="Over 80 %.", disk_revision=2),
                frame(3, session_id, "ready", disk_notice="Over 80 %.", disk_revision=2),
                frame(
                    4,
                    session_id,
                    "ready",
                    disk_notice="Full.",
                    disk_revision=4,
                    disk_fill="full",
                    disk_limit_mb=20,
                ),
                frame(5, session_id, "ready"),
                frame(6, session_id, "ready", disk_notice="Over 80 %.", disk_revision=6),
            ]
        )
        client = await stack.enter_async_context(
            aclosing(manager_http("http://manager", "token", AnsweringTransport(manager)))
        )
        await teller(client, database).publish_changes()
        assert await told(database, session_id) == ["Over 80 %.", "Full.", "Over 80 %."]
        stored = await MongoEventLog(database).read(session_id, after=0, limit=100)
        notices = [event.payload for event in stored if isinstance(event.payload, Notice)]
        assert [one.code for one in notices] == ["computer.disk", "computer.disk_full", "computer.disk"]
        assert [one.params for one in notices] == [{}, {"percent": 80, "limit": 20}, {}]
