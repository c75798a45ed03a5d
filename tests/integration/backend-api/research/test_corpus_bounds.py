"""What a corpus may hold, and how it is read: in a real database, by many at once."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from pymongo import AsyncMongoClient

from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database
from backend_api.main.stores import connect
from backend_api.research.corpus import Corpus, Entry
from backend_api.research.domain import Bounds, Filter, Held, Paper, Record, RecordId
from backend_api.research.errors import CorpusFullError
from backend_api.research.mongo import MongoCorpus
from backend_api.research.papers import Papers
from support.gateway import run_gateway
from support.modules import MODULE_DOCUMENTS
from support.servers import Server

ANNA, BERT = UserId("anna"), UserId("bert")
AT = datetime(2026, 1, 1, tzinfo=UTC)
WIDE = Bounds()


def record(number: int, *, user_id: UserId = ANNA, title: str = "", length: int = 10_000) -> Record:
    paper = Paper(title=title or f"Title {number}", doi=f"10.1000/{number}", abstract="é" * length)
    return Record(id=RecordId(f"rec_{number:06}"), user_id=user_id, paper=paper, created_at=AT)


@pytest.fixture
async def database(mongo_server: Server, mongo_database_name: str) -> AsyncGenerator[Database]:
    async with connect(mongo_server.uri, mongo_database_name, documents=MODULE_DOCUMENTS) as opened:
        yield opened


async def test_what_many_add_at_once_is_never_more_than_may_be_and_what_goes_makes_room(database: Database) -> None:
    store, within = MongoCorpus(database), Bounds(records=100, characters=35_000)
    tried = await asyncio.gather(
        *(store.insert(record(number), within=within) for number in range(8)), return_exceptions=True
    )
    assert sum(one is True for one in tried) == 3
    assert sum(isinstance(one, CorpusFullError) for one in tried) == 5
    held = await store.held(ANNA)
    first, *_ = [one async for batch in store.each(ANNA, Filter()) for one in batch]
    assert held == Held(records=3, characters=3 * first.characters)
    with pytest.raises(CorpusFullError):
        await store.replace(first.with_notes("x" * 5_000), within=within)
    assert await store.replace(first.with_notes("x" * 1_000), within=within)
    assert (await store.held(ANNA)).characters == held.characters + 1_000
    assert await store.delete(ANNA, first.id)
    assert await store.held(ANNA) == Held(records=2, characters=2 * first.characters)
    assert await store.insert(record(9), within=within)
    with pytest.raises(CorpusFullError):
        await store.insert(record(10, length=1), within=Bounds(records=3))
    assert await store.insert(record(10, user_id=BERT), within=within), "another user has as much"


async def test_records_that_were_stored_before_anybody_counted_count(database: Database) -> None:
    store = MongoCorpus(database)
    whole = Record(
        id=RecordId("rec_x"),
        user_id=ANNA,
        paper=Paper(title="é😀", authors=("A B", "C"), abstract="a", venue="v", volume="1", doi="10.1/x", pages="1–2"),
        notes="n",
        tags=("one", "two"),
        sessions=("s" * 100,),
        created_at=AT,
    )
    assert await store.insert_many([whole, record(1)], within=WIDE) == 2
    held = await store.held(ANNA)
    assert held == Held(records=2, characters=whole.characters + record(1).characters)
    await database["corpus_held"].delete_many({})
    assert await store.held(ANNA) == held
    with pytest.raises(CorpusFullError):
        await store.insert(record(2), within=Bounds(characters=held.characters + 1_000))
    assert await store.insert(record(2), within=WIDE)
    assert (await store.held(ANNA)).records == 3


async def test_a_file_is_compared_with_the_records_there_and_changes_those_alone_that_lack_something(
    database: Database,
) -> None:
    store = MongoCorpus(database)
    corpus = Corpus(store=store, papers=cast("Papers", None), now=lambda: AT)
    await store.insert_many([record(number) for number in range(3)], within=WIDE)
    entries = [
        Entry(paper=Paper(title="Title 0", doi="10.1000/0")),
        Entry(paper=Paper(title="Title 1", doi="10.1000/1", venue="Nature"), notes="read"),
        Entry(paper=Paper(title="Title 3", doi="10.1000/3")),
    ]
    done = await corpus.take_in(ANNA, entries, [])
    assert (done.added, done.merged) == (1, 2)
    kept = {one.paper.doi: one for batch in [b async for b in store.each(ANNA, Filter())] for one in batch}
    assert {doi: one.version for doi, one in kept.items()} == {
        "10.1000/0": 1,
        "10.1000/1": 2,
        "10.1000/2": 1,
        "10.1000/3": 1,
    }
    assert (kept["10.1000/1"].paper.venue, kept["10.1000/1"].notes) == ("Nature", "read")
    assert len(kept["10.1000/1"].paper.abstract) == 10_000


@pytest.mark.thorough
async def test_reading_a_whole_corpus_takes_the_memory_of_a_part_of_it(database: Database) -> None:
    store = MongoCorpus(database)
    await store.insert_many([record(number, length=5_000) for number in range(3_000)], within=WIDE)
    seen = list[str]()
    tracemalloc.start()
    try:
        async for batch in store.each(ANNA, Filter()):
            seen += [one.id for one in batch]
        assert tracemalloc.get_traced_memory()[1] < 12e6, "all of them take 30 MB"
    finally:
        tracemalloc.stop()
    assert seen == [f"rec_{number:06}" for number in range(3_000)]
    tracemalloc.start()
    try:
        names = [one async for batch in store.each_name(ANNA) for one in batch]
        assert tracemalloc.get_traced_memory()[1] < 25e6
    finally:
        tracemalloc.stop()
    assert len(names) == 3_000
    assert (names[7].paper.doi, names[7].paper.title, names[7].paper.abstract) == ("10.1000/7", "Title 7", "")


async def test_an_export_is_read_as_it_is_taken_and_no_key_is_in_it_twice(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with (
        run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway,
        AsyncMongoClient[dict[str, Any]](mongo_server.uri) as client,
    ):
        anna = await gateway.user("anna")
        user_id = UserId((await gateway.client.get("/api/auth/me", headers=anna)).json()["id"])
        same = [record(number, user_id=user_id, title="Same", length=9_000) for number in range(2_000)]
        assert await MongoCorpus(gateway.database).insert_many(same, within=WIDE) == 2_000

        async def cursors() -> int:
            ours: dict[str, Any] = {"ns": f"{mongo_database_name}.corpus", "type": "idleCursor"}
            pipeline: list[dict[str, Any]] = [{"$currentOp": {"idleCursors": True}}, {"$match": ours}]
            return len(await (await client.admin.aggregate(pipeline)).to_list())

        path = "/api/corpus/export?format=bibtex"
        async with gateway.client.stream("GET", path, headers=anna) as answer:
            assert answer.headers["content-type"] == "application/x-bibtex; charset=utf-8"
            pieces = answer.aiter_bytes()
            assert (await anext(pieces)).startswith((b"@article{anonsame", b"@misc{anonsame"))
            async with asyncio.timeout(25):
                # It is read as it is taken.
                while await cursors() != 1:
                    await asyncio.sleep(0.05)
        # The client has left in the middle.
        async with asyncio.timeout(25):
            while await cursors():
                await asyncio.sleep(0.05)
        whole = (await gateway.client.get(path, headers=anna, timeout=120)).text
        keys = [line for line in whole.splitlines() if line.startswith("@")]
        assert len(set(keys)) == len(keys) == 2_000
