"""Kinds of sub-agents that users wrote: kept by their names, bounded in number, and each user's alone."""

from __future__ import annotations

import asyncio

import pytest

from backend_api.agent.subagent_kinds import MAX_KINDS, SubagentKind
from backend_api.agents.domain import TooManyKindsError
from support.backend_stores import ANNA, BERT, MongoStores


def kind(name: str, prompt: str = "Bake.", tools: frozenset[str] | None = None) -> SubagentKind:
    return SubagentKind(name=name, description="Bakes.", prompt=prompt, tools=tools, model=None)


async def test_each_is_kept_whole_by_its_name_replaced_and_deleted(stores: MongoStores) -> None:
    assert list(await stores.kinds.of(ANNA)) == []
    miller = SubagentKind(
        name="miller",
        description="Mills 麦.",
        prompt="$prompt\n{x}",
        tools=frozenset({"file_*", "$name"}),
        model="m",
        max_calls=7,
        max_tokens=8_000,
        max_minutes=9,
    )
    await stores.kinds.put(ANNA, miller)
    await stores.kinds.put(ANNA, kind("baker", tools=frozenset()))
    assert list(await stores.kinds.of(ANNA)) == [kind("baker", tools=frozenset()), miller]
    await stores.kinds.put(ANNA, kind("miller"))
    assert list(await stores.kinds.of(ANNA)) == [kind("baker", tools=frozenset()), kind("miller")]
    assert await stores.kinds.delete(ANNA, "miller")
    assert not await stores.kinds.delete(ANNA, "miller")
    assert [one.name for one in await stores.kinds.of(ANNA)] == ["baker"]


async def test_those_of_another_user_are_never_seen_changed_or_deleted(stores: MongoStores) -> None:
    await stores.kinds.put(ANNA, kind("baker"))
    await stores.kinds.put(BERT, kind("baker", "Bake otherwise."))
    assert not await stores.kinds.delete(BERT, "miller")
    assert await stores.kinds.delete(BERT, "baker")
    assert list(await stores.kinds.of(ANNA)) == [kind("baker")]
    assert list(await stores.kinds.of(BERT)) == []


async def test_there_are_never_more_than_there_may_be_however_many_come_at_once(stores: MongoStores) -> None:
    wanted = [stores.kinds.put(ANNA, kind(f"baker-{number}")) for number in range(MAX_KINDS + 5)]
    ended = await asyncio.gather(*wanted, return_exceptions=True)
    assert sum(isinstance(one, TooManyKindsError) for one in ended) == 5
    kept = [one.name for one in await stores.kinds.of(ANNA)]
    assert len(kept) == MAX_KINDS
    await stores.kinds.put(ANNA, kind(kept[0], "Bake anew."))
    with pytest.raises(TooManyKindsError):
        await stores.kinds.put(ANNA, kind("miller"))
    assert await stores.kinds.delete(ANNA, kept[1])
    await stores.kinds.put(ANNA, kind("miller"))
