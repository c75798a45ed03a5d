"""Skills of users."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncGenerator

import pytest

from backend_api.main.stores import connect
from backend_api.skills.domain.entity import MAX_BYTES, Skill
from backend_api.skills.domain.errors import SkillLimitError, SkillTakenError, SkillUnreadableError
from backend_api.skills.library.archives import skill_of
from backend_api.skills.mongo.skills import MongoSkillStore
from backend_api.skills.ports import SkillStore
from support.backend_stores import ANNA, BERT
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name", "store"]


@pytest.fixture
async def store(mongo_server: Server, mongo_database_name: str) -> AsyncGenerator[SkillStore]:
    async with connect(mongo_server.uri, mongo_database_name) as database:
        yield MongoSkillStore(database)


def skill(name: str, text: str = "Do.", **files: bytes) -> Skill:
    return skill_of({"SKILL.md": f"---\nname: {name}\ndescription: For {name}.\n---\n{text}".encode(), **files})


def zipped(text: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("SKILL.md", text)
    return archive.getvalue()


async def test_one_is_kept_whole_listed_and_deleted(store: SkillStore) -> None:
    knots = skill("knots", tie=bytes(range(256)))
    entry = await store.put(ANNA, knots, source="https://a.example/k.zip", most=5)
    assert await store.get(ANNA, "knots") == knots
    [listed] = await store.entries(ANNA)
    assert (listed.name, listed.description, listed.origin) == ("knots", "For knots.", "user")
    assert (listed.digest, listed.size, listed.files, listed.source) == (
        entry.digest,
        knots.size,
        2,
        "https://a.example/k.zip",
    )
    assert listed.created_at is not None
    assert listed.created_at.tzinfo is not None
    assert await store.delete(ANNA, "knots")
    assert not await store.delete(ANNA, "knots")
    assert await store.get(ANNA, "knots") is None


async def test_nobody_has_anothers(store: SkillStore) -> None:
    await store.put(ANNA, skill("knots"), source=None, most=5)
    assert await store.entries(BERT) == []
    assert await store.get(BERT, "knots") is None
    assert not await store.delete(BERT, "knots")
    await store.put(BERT, skill("knots", "Otherwise."), source=None, most=5)
    kept = await store.get(ANNA, "knots")
    assert kept is not None
    assert kept.instructions == "Do."


async def test_another_of_its_name_takes_its_place_also_at_the_limit(store: SkillStore) -> None:
    for name in ("b", "a"):
        await store.put(ANNA, skill(name), source=None, most=2)
    with pytest.raises(SkillLimitError):
        await store.put(ANNA, skill("c"), source=None, most=2)
    first = {entry.name: entry.digest for entry in await store.entries(ANNA)}
    await store.put(ANNA, skill("b", "New."), source=None, most=2)
    second = {entry.name: entry.digest for entry in await store.entries(ANNA)}
    assert list(second) == ["a", "b"]
    assert first["a"] == second["a"]
    assert first["b"] != second["b"]


async def test_however_many_come_at_once_there_are_no_more_than_may_be(store: SkillStore) -> None:
    puts = (store.put(ANNA, skill(f"s{at}"), source=None, most=3) for at in range(8))
    outcomes = await asyncio.gather(*puts, return_exceptions=True)
    assert all(isinstance(one, SkillLimitError) for one in outcomes if isinstance(one, BaseException))
    assert len(await store.entries(ANNA)) == 3


async def test_beside_others_none_from_elsewhere_is_replaced_however_many_come_at_once(store: SkillStore) -> None:
    sources = [f"https://{at}.example/k.zip" for at in range(8)]
    puts = (store.put(ANNA, skill("knots", one), source=one, most=3, only_same_source=True) for one in sources)
    outcomes = await asyncio.gather(*puts, return_exceptions=True)
    [kept] = [one for one in outcomes if not isinstance(one, BaseException)]
    assert sum(isinstance(one, SkillTakenError) for one in outcomes) == 7
    assert [entry.source for entry in await store.entries(ANNA)] == [kept.source]
    await store.put(ANNA, skill("knots", "newer"), source=kept.source, most=3, only_same_source=True)
    found = await store.get(ANNA, "knots")
    assert found is not None
    assert found.instructions == "newer"


async def test_the_largest_one_is_kept(store: SkillStore) -> None:
    main = b"---\nname: big\ndescription: Big.\n---\nDo."
    # Nothing that packs well.
    noise = b"".join(hash((at, "x")).to_bytes(9, "big", signed=True)[1:] for at in range((MAX_BYTES - len(main)) // 8))
    big = skill_of({"SKILL.md": main, "noise": noise})
    await store.put(ANNA, big, source=None, most=5)
    assert await store.get(ANNA, "big") == big


async def test_what_was_stored_and_is_no_skill_any_more_says_so_and_goes(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with connect(mongo_server.uri, mongo_database_name) as database:
        store = MongoSkillStore(database)
        await store.put(ANNA, skill("knots"), source=None, most=5)
        unseen = zipped("---\nname: knots\ndescription: For knots.\n---\nDo.\U000e0041")
        await database["skills"].update_one({"_id": "anna/knots"}, {"$set": {"archive": unseen}})
        with pytest.raises(SkillUnreadableError, match=r"knots can no longer be used: SKILL.md has .* U\+E0041.*again"):
            await store.get(ANNA, "knots")
        assert [entry.name for entry in await store.entries(ANNA)] == ["knots"]
        assert await store.delete(ANNA, "knots")
