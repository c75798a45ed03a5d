"""What the feed asks a server that is busy, or behind what is written; the server is one that says when it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

from bson.timestamp import Timestamp
from pymongo.errors import OperationFailure

from backend_api.conversations.mongo.session_feed import MongoSessionFeed
from backend_api.kit.ids import UserId

ANNA = UserId("anna")
TOO_LONG = OperationFailure("operation exceeded time limit", 50)


def deleted(number: int) -> dict[str, Any]:
    return {
        "_id": {"_data": str(number)},
        "operationType": "update",
        "clusterTime": Timestamp(1_800_000_000 + number, 1),
        "documentKey": {"_id": f"s{number}"},
        "updateDescription": {"updatedFields": {"owner": ANNA}},
    }


class BusyServer:
    """Answers `aggregate` and `getMore` in turn by `says`: changes, an error, or a function that waits for them. Its
    time goes on with each `hello`."""

    def __init__(self, *says: Any) -> None:
        self.asked: list[dict[str, Any]] = []
        self.codec_options = None
        self.client = SimpleNamespace(start_session=self._session, admin=SimpleNamespace(command=self._hello))
        self._says = iter(says)
        self._time = 1_800_000_000

    async def command(self, command: dict[str, Any], **_: Any) -> dict[str, Any]:
        self.asked.append(command)
        said = next(self._says, None)
        if said is None:
            await asyncio.Event().wait()
        if isinstance(said, Exception):
            raise said
        changes = await said() if callable(said) else said
        return {"cursor": {"id": 7, "firstBatch": changes, "nextBatch": changes}}

    async def _hello(self, _: str) -> dict[str, Any]:
        self._time += 10
        return {"operationTime": Timestamp(self._time, 1)}

    @asynccontextmanager
    async def _session(self) -> AsyncGenerator[None]:
        yield


def late(*changes: dict[str, Any]) -> Callable[[], Any]:
    async def answer() -> list[dict[str, Any]]:
        await asyncio.sleep(0.6)
        return list(changes)

    return answer


async def test_behind_what_a_busy_server_writes_each_change_is_taken_as_it_is_found() -> None:
    server = BusyServer([], late(deleted(1)), [deleted(2)], [deleted(3)], [], [deleted(4)])
    async with MongoSessionFeed(cast("Any", server), behind_s=0.05) as feed, feed.follow(ANNA, None) as place:
        async with asyncio.timeout(5):
            changes = aiter(place)
            assert [(await anext(changes)).session_id for _ in range(4)] == ["s1", "s2", "s3", "s4"]
    more = [asked.get("batchSize") for asked in server.asked if "getMore" in asked]
    assert more[:5] == [None, 1, 1, 1, None]


async def test_where_what_was_before_takes_too_long_it_begins_at_once_with_what_is_now() -> None:
    server = BusyServer(TOO_LONG, [], late(deleted(30)))
    async with MongoSessionFeed(cast("Any", server), kept_changes=9) as feed, feed.follow(ANNA, None) as place:
        async with asyncio.timeout(5):
            assert (await anext(aiter(place))).session_id == "s30"
    before, now = (asked["pipeline"][0]["$changeStream"]["startAtOperationTime"] for asked in server.asked[:2])
    assert (before.time, now.time) == (1_800_000_010 - 900, 1_800_000_020)
    assert [asked["cursor"]["batchSize"] for asked in server.asked[:2]] == [9, 0]
    assert "maxTimeMS" in server.asked[0]
