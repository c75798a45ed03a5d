"""MCP servers that users added: kept by their names, bounded in number, and each user's alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from backend_api.mcp.domain.entity import McpServer
from backend_api.mcp.domain.user_servers import MAX_USER_SERVERS, McpTrial, TooManyMcpServersError, UserMcpServer
from backend_api.settings.domain.entity import Sealed
from support.backend_stores import ANNA, BERT, MongoStores

TRIAL = McpTrial(config="c", at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), status="ready", tools=["a"], error="$e")


def server(name: str, url: str = "https://x.example.org/$x", **fields: Any) -> UserMcpServer:
    return UserMcpServer(server=McpServer(name=name, transport="http", url=url, source="user"), **fields)


async def test_each_is_kept_whole_by_its_name_replaced_and_deleted(stores: MongoStores) -> None:
    whole = McpServer(
        name="wiki",
        transport="sse",
        url="https://wiki.example.org/sse",
        env={"TOKEN": ""},
        headers={"Authorization": ""},
        enabled=False,
        tools=frozenset({"get_*", "$put"}),
        source="user",
    )
    wiki = UserMcpServer(server=whole, sealed=Sealed(key_id="k", text="t"), trial=TRIAL)
    await stores.mcp_servers.put(ANNA, wiki)
    await stores.mcp_servers.put(ANNA, server("box"))
    assert list(await stores.mcp_servers.of(ANNA)) == [server("box"), wiki]
    await stores.mcp_servers.put(ANNA, server("wiki"))
    assert list(await stores.mcp_servers.of(ANNA)) == [server("box"), server("wiki")]
    program = McpServer(name="box", transport="stdio", command="$run", args=("a", "$b"), env={"KEY": ""}, source="user")
    await stores.mcp_servers.put(ANNA, UserMcpServer(server=program))
    assert list(await stores.mcp_servers.of(ANNA)) == [UserMcpServer(server=program), server("wiki")]
    assert await stores.mcp_servers.delete(ANNA, "wiki")
    assert not await stores.mcp_servers.delete(ANNA, "wiki")


async def test_those_of_another_user_are_never_seen_changed_or_deleted(stores: MongoStores) -> None:
    await stores.mcp_servers.put(ANNA, server("wiki"))
    await stores.mcp_servers.put(BERT, server("wiki", "https://bert.example.org"))
    assert await stores.mcp_servers.delete(BERT, "wiki")
    assert list(await stores.mcp_servers.of(ANNA)) == [server("wiki")]
    assert list(await stores.mcp_servers.of(BERT)) == []


async def test_there_are_never_more_than_there_may_be_however_many_come_at_once(stores: MongoStores) -> None:
    wanted = [stores.mcp_servers.put(ANNA, server(f"s{number}")) for number in range(MAX_USER_SERVERS + 3)]
    ended = await asyncio.gather(*wanted, return_exceptions=True)
    assert sum(isinstance(one, TooManyMcpServersError) for one in ended) == 3
    kept = [one.server.name for one in await stores.mcp_servers.of(ANNA)]
    await stores.mcp_servers.put(ANNA, server(kept[0]))
    with pytest.raises(TooManyMcpServersError):
        await stores.mcp_servers.put(ANNA, server("more"))


@pytest.mark.parametrize(
    "meanwhile",
    [
        server("wiki", "https://y.example.org"),
        server("wiki", sealed=Sealed(key_id="k", text="other")),
        replace(server("wiki"), server=replace(server("wiki").server, enabled=False)),
        None,
    ],
    ids=["address", "values", "enabled", "gone"],
)
async def test_what_came_of_trying_one_is_kept_only_where_it_still_is_the_same(
    stores: MongoStores, meanwhile: UserMcpServer | None
) -> None:
    tried = server("wiki", sealed=Sealed(key_id="k", text="t"))
    await stores.mcp_servers.put(ANNA, server("box"))
    await stores.mcp_servers.put(ANNA, tried)
    assert not await stores.mcp_servers.store_trial(BERT, tried, TRIAL)
    assert await stores.mcp_servers.store_trial(ANNA, tried, TRIAL)
    assert list(await stores.mcp_servers.of(ANNA)) == [server("box"), replace(tried, trial=TRIAL)]
    if meanwhile is None:
        await stores.mcp_servers.delete(ANNA, "wiki")
    else:
        await stores.mcp_servers.put(ANNA, meanwhile)
    assert not await stores.mcp_servers.store_trial(ANNA, tried, TRIAL)
    assert list(await stores.mcp_servers.of(ANNA)) == [server("box"), *([meanwhile] if meanwhile else [])]


async def test_values_under_another_key_are_found_and_replaced_once(stores: MongoStores) -> None:
    former, fresh = Sealed(key_id="one", text="t"), Sealed(key_id="two", text="anew")
    for own in (server("bare"), server("new", sealed=fresh), server("old", sealed=former, trial=TRIAL)):
        await stores.mcp_servers.put(ANNA, own)
    await stores.mcp_servers.put(BERT, server("new", sealed=fresh))
    found = [(user_id, own.server.name) async for user_id, own in stores.mcp_servers.sealed_under_other_key("two")]
    assert found == [(ANNA, "old")]
    assert await stores.mcp_servers.reseal(ANNA, "old", former, fresh)
    assert not await stores.mcp_servers.reseal(ANNA, "old", former, fresh)
    assert (await stores.mcp_servers.of(ANNA))[2] == server("old", sealed=fresh, trial=TRIAL)
    assert [own async for own in stores.mcp_servers.sealed_under_other_key("two")] == []
