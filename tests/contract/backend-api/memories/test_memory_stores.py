"""Memories of users: kept as a whole, of two writers one is first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from backend_api.kit.ids import UserId
from backend_api.main.stores import connect
from backend_api.memories.domain import Memories
from backend_api.memories.mongo import MemoriesDocument, MongoMemories
from backend_api.memories.ports import MemoriesStore
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name"]

ANNA, BERT = UserId("anna"), UserId("bert")


@pytest.fixture
async def store(mongo_server: Server, mongo_database_name: str) -> AsyncGenerator[MemoriesStore]:
    async with connect(mongo_server.uri, mongo_database_name, documents=[MemoriesDocument]):
        yield MongoMemories()


async def test_they_are_kept_for_their_user_alone(store: MemoriesStore) -> None:
    texts = {"喜好/茶.$md": "绿茶\n", "a.b": ""}
    assert await store.replace(replace(await store.get(ANNA), texts=texts))
    kept = await store.get(ANNA)
    assert (dict(kept.texts), kept.version) == (texts, 1)
    assert await store.get(BERT) == Memories(user_id=BERT)


async def test_who_read_what_is_not_there_any_more_changes_nothing(store: MemoriesStore) -> None:
    first = await store.get(ANNA)
    assert await store.replace(replace(first, texts={"a": "1"}))
    assert not await store.replace(replace(first, texts={"a": "2"}))
    second = await store.get(ANNA)
    assert await store.replace(replace(second, texts={}))
    assert not await store.replace(replace(second, texts={"a": "3"}))
    assert await store.get(ANNA) == Memories(user_id=ANNA, version=2)


async def test_of_many_at_once_one_is_first(store: MemoriesStore) -> None:
    for _ in range(3):
        present = await store.get(ANNA)
        attempts = [store.replace(replace(present, texts={"a": str(at)})) for at in range(6)]
        assert sorted(await asyncio.gather(*attempts)) == [False] * 5 + [True]
