"""The feed of all own sessions: exactly once, in order, from any gateway, across restarts of the database."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Generator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bson.timestamp import Timestamp

from backend_api.agent.events import MessageCompleted, RunEnd, RunFinished, SandboxUpdated
from backend_api.agent.new_events import NewEvent
from backend_api.agent.plans import Plan
from backend_api.agent.waits import Wait
from backend_api.conversations.mongo.feed_documents import number_of
from backend_api.conversations.mongo.session_feed import MongoSessionFeed
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.clock import DatabaseClock
from support.gateway import Gateway, run_gateway
from support.servers import Server, run_mongod
from support.streams import Frame, reading

FEED = "/api/events"
SHOWN = ("title", "status", "model", "options", "pinned", "archived", "read_seq", "unread", "failed", "sandbox")


def shown(frame: Frame) -> tuple[str, dict[str, Any]]:
    return frame.event, {name: frame.data[name] for name in SHOWN if name in frame.data}


async def one_run(gateway: Gateway, headers: dict[str, str], session_id: str, status: RunEnd = "completed") -> None:
    """Play a worker that answers one message."""
    await gateway.client.post(f"/api/sessions/{session_id}/messages", json={"text": "hello"}, headers=headers)
    ledger = gateway.ports.ledger
    lease = await ledger.claim("w", lease_s=30, model="demo")
    assert lease is not None
    await ledger.record(lease, [NewEvent(payload=MessageCompleted(message_id="a", text="Hi"))])
    await ledger.finish(lease, RunFinished(run_id=lease.run.id, status=status), seen_seq=99)


async def test_everything_that_changes_a_session_is_told(gateways: list[Gateway]) -> None:
    near, far = gateways
    anna, bert = await near.user("anna"), await near.user("bert")
    async with reading(far.client, FEED, anna) as reader:
        (started,) = await reader.take_frames(1)
        assert (started.event, started.id, started.data["session_id"]) == (
            "feed.started",
            str(started.data["seq"]),
            None,
        )
        await near.session(bert)
        session_id = await near.session(anna)
        url = f"/api/sessions/{session_id}"
        await near.client.patch(url, json={"title": "Plans", "options": {"max_turns": 5}}, headers=anna)
        await one_run(near, anna, session_id)
        await near.ports.log.append(SessionId(session_id), [SandboxUpdated(status="ready")])
        read = await near.client.post(f"{url}/read", json={"seq": 99}, headers=anna)
        assert (read.json()["read_seq"], read.json()["unread"]) == (read.json()["last_seq"], 0)
        await near.client.patch(url, json={"pinned": True, "archived": True}, headers=anna)
        await near.client.delete(url, headers=anna)
        frames = await reader.until("session.deleted")
    assert frames[0].event == "session.created"
    assert (frames[0].data["status"], frames[0].data["unread"]) == ("idle", 0)
    assert [shown(frame) for frame in frames[1:]] == [
        ("session.updated", {"title": "Plans", "options": {"max_turns": 5}}),
        ("session.updated", {"status": "queued"}),
        ("session.updated", {"status": "running"}),
        ("session.updated", {}),
        ("session.updated", {"status": "idle", "unread": 1}),
        ("session.updated", {"sandbox": "ready"}),
        ("session.updated", {"read_seq": read.json()["read_seq"], "unread": 0}),
        ("session.updated", {"pinned": True, "archived": True}),
        ("session.deleted", {}),
    ]
    assert {frame.data["session_id"] for frame in frames} == {session_id}
    # Each says how new it is, as far as it changed: what the stream tells by its event, the rest by its time.
    seqs = [frame.data["last_seq"] for frame in frames[1:-1] if "last_seq" in frame.data]
    times = [frame.data["updated_at"] for frame in frames[1:-1] if "updated_at" in frame.data]
    assert (seqs, times) == (sorted(set(seqs)), sorted(times))
    assert len(seqs) == 6
    assert seqs[-1] == read.json()["last_seq"]
    assert frames[1].data["updated_at"] <= frames[-2].data["updated_at"]
    assert "last_seq" not in frames[-2].data
    numbers = [frame.data["seq"] for frame in (started, *frames)]
    assert numbers == sorted(set(numbers))
    assert max(numbers) < 2**53


async def test_a_run_that_failed_is_told_until_it_is_read_or_another_one_ends(gateways: list[Gateway]) -> None:
    near, far = gateways
    anna = await near.user("anna")

    async def told(failed: bool) -> dict[str, Any]:
        session = (await near.client.get(url, headers=anna)).json()
        assert session["failed"] == failed
        return session

    async with reading(far.client, FEED, anna) as reader:
        await reader.take_frames(1)
        session_id = await near.session(anna)
        url = f"/api/sessions/{session_id}"
        assert (await reader.next()).data["failed"] is False
        await one_run(near, anna, session_id, "failed")
        end = (await told(failed=True))["last_seq"]
        for seq, failed in ((end - 1, True), (end, False)):
            read = await near.client.post(f"{url}/read", json={"seq": seq}, headers=anna)
            assert read.json()["failed"] == failed
        ends: list[tuple[RunEnd, bool]] = [
            ("failed", True),
            ("completed", False),
            ("interrupted", True),
            ("stopped", False),
        ]
        for status, failed in ends:
            await one_run(near, anna, session_id, status)
            await told(failed=failed)
        await near.client.delete(url, headers=anna)
        frames = await reader.until("session.deleted")
    changes = [frame.data["failed"] for frame in frames if "failed" in frame.data]
    assert changes == [True, False, True, False, True, False]


async def test_a_run_that_failed_is_not_told_where_the_next_message_waits(gateways: list[Gateway]) -> None:
    near = gateways[0]
    anna = await near.user("anna")
    url = f"/api/sessions/{await near.session(anna)}"
    await near.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)
    lease = await near.ports.ledger.claim("w", lease_s=30, model="demo")
    assert lease is not None
    await near.client.post(f"{url}/messages", json={"text": "and then?"}, headers=anna)
    await near.ports.ledger.finish(lease, RunFinished(run_id=lease.run.id, status="failed"), seen_seq=3)
    session = (await near.client.get(url, headers=anna)).json()
    assert (session["status"], session["failed"]) == ("queued", False)


@pytest.mark.thorough
async def test_options_that_an_approved_plan_changes_are_told_whole(gateways: list[Gateway]) -> None:
    near, far = gateways
    anna, ledger = await near.user("anna"), near.ports.ledger
    options = {"enable_plan_mode": True, "max_turns": 5}
    async with reading(far.client, FEED, anna) as reader:
        await reader.take_frames(1)
        url = f"/api/sessions/{await near.session(anna)}"
        await near.client.patch(url, json={"options": options}, headers=anna)
        await near.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)
        lease = await ledger.claim("w", lease_s=30, model="demo")
        assert lease is not None
        await ledger.wait(lease, [Wait(id="p", subject=Plan(call_id="c", plan="This."), expires_s=60)], read_seq=99)
        decided = await near.client.post(f"{url}/plans/p", json={"decision": "approve"}, headers=anna)
        assert decided.status_code == 200
        while (await reader.next()).data.get("status") != "waiting":
            pass
        told = await reader.next()
    expected = {"status": "queued", "options": options | {"enable_plan_mode": False}}
    assert shown(told) == ("session.updated", expected)
    session = (await near.client.get(url, headers=anna)).json()
    assert (told.data["last_seq"], told.data["updated_at"]) == (session["last_seq"], session["updated_at"])


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.thorough) for one in (1, 2))])
async def test_readers_that_come_and_go_anywhere_see_each_change_once_in_order(
    gateways: list[Gateway], seed: int
) -> None:
    chance = random.Random(seed)
    anna = await gateways[0].user("anna")
    # One that starts on a busy machine may know less of what was before: from here on both know all.
    starts: list[int] = []
    for gateway in gateways:
        async with reading(gateway.client, FEED, anna) as reader:
            starts.append(int((await reader.next()).id or 0))
    start = str(max(starts))

    async def change() -> None:
        sessions = [await chance.choice(gateways).session(anna) for _ in range(3)]
        for number in range(60):
            url = f"/api/sessions/{chance.choice(sessions)}"
            await chance.choice(gateways).client.patch(url, json={"title": f"Title {number}"}, headers=anna)
        last = f"/api/sessions/{sessions[0]}"
        await gateways[0].client.patch(last, json={"title": "The end"}, headers=anna)

    async def follow(moves: random.Random) -> list[str]:
        seen: list[str] = []
        last = start
        while not seen or '"The end"' not in seen[-1]:
            # A gateway may end a stream at any time.
            with suppress(EOFError):
                async with reading(moves.choice(gateways).client, FEED, anna, last_id=last) as reader:
                    for _ in range(moves.randint(1, 15)):
                        frame = await reader.next()
                        seen.append(json.dumps(frame.data))
                        last = frame.id
                        if '"The end"' in seen[-1]:
                            break
        return seen

    async with asyncio.TaskGroup() as group:
        following = [group.create_task(follow(random.Random(f"{seed}-{number}"))) for number in range(3)]
        group.create_task(change())
    seen = [task.result() for task in following]
    assert len(seen[0]) == 64
    assert seen[0] == seen[1] == seen[2]
    late = await follow(random.Random(seed))
    assert late == seen[0]


async def test_a_number_that_is_too_old_gets_every_session_as_it_is(gateways: list[Gateway]) -> None:
    gateway = gateways[0]
    anna = await gateway.user("anna")
    async with reading(gateway.client, FEED, anna) as reader:
        await reader.next()
        kept = [await gateway.session(anna) for _ in range(3)]
        # What a gateway is told of late follows the snapshots; here it knows of all three before.
        assert [(await reader.next()).event for _ in kept] == ["session.created"] * 3
    for number in ("0", "7", str(2**53)):
        async with reading(gateway.client, FEED, anna, last_id=number) as reader:
            frames = await reader.until("feed.ready")
            assert [frame.event for frame in frames] == ["feed.reset", *["session.snapshot"] * 3, "feed.ready"]
            assert [frame.id for frame in frames[:-1]] == [None] * 4
            assert {frame.data["session_id"] for frame in frames[1:-1]} == set(kept)
            await gateway.client.patch(f"/api/sessions/{kept[0]}", json={"title": number}, headers=anna)
            assert (await reader.next()).data["title"] == number


async def test_numbers_that_are_none_are_refused_by_name(gateways: list[Gateway]) -> None:
    gateway = gateways[0]
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    for path in (FEED, f"/api/sessions/{session_id}/events"):
        for garbage in ("abc", "-1", "1.5", "1e3", "9" * 20, "٣", "0x10", "1" * 5000, "7 8", "null"):
            answer = await gateway.client.get(path, headers=anna | {"Last-Event-ID": garbage.encode()})
            assert answer.status_code == 422, garbage
            assert answer.json()["errors"][0]["field"] == "header.last-event-id"
        for after in ("abc", "-1", "1.5", str(2**60), ""):
            assert (await gateway.client.get(path, params={"after": after}, headers=anna)).status_code == 422


@pytest.mark.thorough
async def test_the_feed_goes_on_when_the_database_comes_back(redis_server: Server, tmp_path: Path) -> None:
    with ExitStack() as servers:
        first = servers.enter_context(run_mongod(tmp_path))
        async with run_gateway(first.uri, "feed", redis_server.uri) as gateway:
            anna = await gateway.user("anna")
            async with reading(gateway.client, FEED, anna) as reader:
                await reader.until("feed.started")
                session_id = await gateway.session(anna)
                await reader.until("session.created")
                first.process.terminate()
                await asyncio.to_thread(first.process.wait, 20)
                servers.enter_context(run_mongod(tmp_path, first.port))
                await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": "Back"}, headers=anna)
                assert (await reader.next()).data["title"] == "Back"
                async with reading(gateway.client, FEED, anna, last_id="1") as late:
                    assert (await late.next()).event == "feed.reset"


@pytest.mark.thorough
async def test_the_feed_goes_on_when_the_server_ends_its_cursor(mongo_server: Server, redis_server: Server) -> None:
    async with run_gateway(mongo_server.uri, "feed_cursor", redis_server.uri) as gateway:
        anna = await gateway.user("anna")
        async with reading(gateway.client, FEED, anna) as reader:
            await reader.until("feed.started")
            session_id = await gateway.session(anna)
            await reader.until("session.created")
            admin = gateway.database.client.admin
            looked: list[dict[str, Any]] = [
                {"$currentOp": {"idleCursors": True}},
                {"$match": {"ns": "feed_cursor.sessions"}},
            ]
            ops = [op async for op in await admin.aggregate(looked)]
            cursors = [op["cursor"]["cursorId"] for op in ops if "cursor" in op]
            assert len(cursors) == 1
            await gateway.database.command({"killCursors": "sessions", "cursors": cursors})
            for title in ("one", "two"):
                await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": title}, headers=anna)
            assert [(await reader.next()).data["title"] for _ in range(2)] == ["one", "two"]


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """The host's zone for the length of a test."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.thorough
@pytest.mark.usefixtures("new_york")
async def test_times_are_right_wherever_the_host_is(mongo_server: Server, redis_server: Server) -> None:
    async with run_gateway(mongo_server.uri, "feed_zone", redis_server.uri) as gateway:
        anna = await gateway.user("anna")
        async with reading(gateway.client, FEED, anna) as reader:
            await reader.until("feed.started")
            await gateway.session(anna)
            created = (await reader.until("session.created"))[-1].data
            ago = [
                datetime.now(UTC) - datetime.fromisoformat(created[name]) for name in ("at", "created_at", "updated_at")
            ]
            assert all(timedelta() <= one < timedelta(minutes=1) for one in ago)
        clock = DatabaseClock()
        async with clock.following(gateway.database):
            assert abs(clock() - time.time()) < 60


async def test_what_is_kept_is_bounded_and_a_slow_reader_is_cut_off(gateways: list[Gateway]) -> None:
    gateway = gateways[0]
    anna = await gateway.user("anna")
    me = (await gateway.client.get("/api/auth/me", headers=anna)).json()["id"]
    async with MongoSessionFeed(gateway.database, kept_changes=10) as feed, feed.follow(me, None) as place:
        start = place.position
        session_id = await gateway.session(anna)
        for number in range(12):
            await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": str(number)}, headers=anna)
        titles: list[str] = []
        numbers: list[int] = []
        async with asyncio.timeout(20):
            async for change in place:
                numbers.append(change.seq)
                titles.append(str(change.fields["title"]))
                if titles[-1] == "11":
                    break
        assert titles == ["", *map(str, range(12))]
        async with feed.follow(me, start) as old:
            assert old.has_gap
        async with feed.follow(me, numbers[-8]) as new:
            assert not new.has_gap
            assert [(await anext(aiter(new))).seq for _ in range(7)] == numbers[-7:]


@pytest.mark.thorough
async def test_a_gateway_that_starts_while_everything_changes_is_soon_ready(gateways: list[Gateway]) -> None:
    gateway = gateways[0]
    anna = await gateway.user("anna")
    me = (await gateway.client.get("/api/auth/me", headers=anna)).json()["id"]
    session_id = SessionId(await gateway.session(anna))

    async def change() -> None:
        number = 0
        while True:
            number += 1
            await gateway.ports.sessions.update(session_id, me, {"title": str(number)})
            await asyncio.sleep(0.05)

    changing = asyncio.create_task(change())
    try:
        async with asyncio.timeout(20), MongoSessionFeed(gateway.database) as feed, feed.follow(me, None) as place:
            assert (await anext(aiter(place))).fields["title"]
    finally:
        changing.cancel()
        await asyncio.gather(changing, return_exceptions=True)


@pytest.mark.thorough
async def test_a_gateway_does_not_wait_for_what_a_busy_database_wrote_before(gateways: list[Gateway]) -> None:
    gateway = gateways[0]
    anna = await gateway.user("anna")
    me = (await gateway.client.get("/api/auth/me", headers=anna)).json()["id"]
    session_id = await gateway.session(anna)
    noise = gateway.database["noise"]
    for _ in range(10):
        await noise.insert_many([{"number": number} for number in range(2_000)])
    now: Timestamp = (await gateway.database.client.admin.command("hello"))["operationTime"]
    earlier = number_of(Timestamp(now.time - 5, 1))
    async with MongoSessionFeed(gateway.database, catch_up_ms=1) as feed, feed.follow(me, None) as place:
        async with feed.follow(me, earlier) as old:
            assert old.has_gap, "whoever came from before is told all"
        await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": "now"}, headers=anna)
        async with asyncio.timeout(20):
            assert (await anext(aiter(place))).fields["title"] == "now"
