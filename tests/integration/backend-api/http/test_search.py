"""Own messages and titles, found by their words."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pymongo.read_concern import ReadConcern

from backend_api.agent.events import MessageCompleted, MessageUser, StoredPayload, ToolFinished
from backend_api.kit.ids import SessionId, UserId
from backend_api.search.application import AT_ONCE, SearchMessages
from backend_api.search.mongo import MongoMessageIndex
from support.gateway import Gateway


async def say(gateway: Gateway, session_id: str, *texts: str) -> None:
    await gateway.ports.log.append(
        SessionId(session_id), [MessageUser(message_id=f"m-{text[:8]}", text=text) for text in texts]
    )


async def search(gateway: Gateway, headers: dict[str, str], q: str, **query: Any) -> dict[str, Any]:
    answer = await gateway.client.get("/api/search", params={"q": q} | query, headers=headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def snippets(gateway: Gateway, headers: dict[str, str], q: str) -> list[str]:
    return [one["snippet"] for one in (await search(gateway, headers, q))["items"]]


async def test_a_message_is_found_as_soon_as_it_is_stored_and_named_by_its_place(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    assert (await search(gateway, anna, "migration"))["items"] == []
    payloads: list[StoredPayload] = [
        MessageUser(message_id="m1", text="Plan the migration of our database"),
        MessageCompleted(message_id="a1", text="The Migration needs a window."),
        MessageCompleted(message_id="a2", text="migration of a sub-agent", agent_id="sub"),
        ToolFinished(call_id="c1", success=True, preview="migration of a tool"),
    ]
    await gateway.ports.log.append(SessionId(session_id), payloads)
    found = await search(gateway, anna, "migration")
    assert found["is_complete"] is True
    assert found["next_cursor"] is None
    assert sorted((one["kind"], one["message_id"], one["snippet"]) for one in found["items"]) == [
        ("agent", "a1", "The Migration needs a window."),
        ("user", "m1", "Plan the migration of our database"),
    ]
    assert {one["session_id"] for one in found["items"]} == {session_id}


async def test_all_words_are_wanted_and_the_last_may_be_a_beginning(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    await say(gateway, await gateway.session(anna), "green tea", "black tea", "green coffee", "teapots are green")
    assert sorted(await snippets(gateway, anna, "green tea")) == ["green tea", "teapots are green"]
    assert await snippets(gateway, anna, "green tea ") == ["green tea"]
    assert (await snippets(gateway, anna, "green tea"))[0] == "green tea"
    assert await snippets(gateway, anna, "coff") == ["green coffee"]
    assert await snippets(gateway, anna, "green nothing") == []


async def test_chinese_words_are_found_within_a_text(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    await say(gateway, await gateway.session(anna), "请帮我迁移数据库到新服务器", "今天天气很好", "用Docker部署")
    assert await snippets(gateway, anna, "数据库") == ["请帮我迁移数据库到新服务器"]
    assert await snippets(gateway, anna, "天气") == ["今天天气很好"]
    assert await snippets(gateway, anna, "部署 docker") == ["用Docker部署"]
    assert await snippets(gateway, anna, "据数") == []


async def test_titles_stand_first_and_are_those_of_now(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id, other = await gateway.session(anna), await gateway.session(anna)
    await say(gateway, other, "about otters")
    await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": "All about Otters (1)"}, headers=anna)
    found = (await search(gateway, anna, "otters"))["items"]
    assert [(one["kind"], one["session_id"]) for one in found] == [("title", session_id), ("user", other)]
    await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": "Seals"}, headers=anna)
    assert [one["kind"] for one in (await search(gateway, anna, "otters"))["items"]] == ["user"]


async def test_nobody_finds_what_is_somebody_elses_or_deleted(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await gateway.session(anna)
    await say(gateway, session_id, "a secret otter")
    assert await snippets(gateway, anna, "otter") == ["a secret otter"]
    assert await snippets(gateway, bert, "otter") == []
    await gateway.client.delete(f"/api/sessions/{session_id}", headers=anna)
    assert await snippets(gateway, anna, "otter") == []
    assert await gateway.database["search_messages"].count_documents({}) == 0
    assert await gateway.database["search_marks"].count_documents({}) == 0
    assert (await gateway.client.get("/api/search", params={"q": "otter"})).status_code == 401


@pytest.mark.parametrize(
    "q",
    [
        pytest.param("", marks=pytest.mark.thorough),
        pytest.param("   ", marks=pytest.mark.thorough),
        '"$*-^',
        pytest.param("-", marks=pytest.mark.thorough),
    ],
)
async def test_a_query_without_a_word_finds_nothing(gateway: Gateway, q: str) -> None:
    anna = await gateway.user("anna")
    await say(gateway, await gateway.session(anna), "tea")
    assert await search(gateway, anna, q) == {"items": [], "next_cursor": None, "is_complete": True}


async def test_odd_queries_are_answered_or_refused_by_name(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    await say(gateway, await gateway.session(anna), "tea where $ne")
    assert await snippets(gateway, anna, '{"$where": "tea"}') == ["tea where $ne"]
    assert await snippets(gateway, anna, "(tea|.*)") == ["tea where $ne"]
    assert await snippets(gateway, anna, "x" * 2000) == []
    for wrong in (
        {"q": "x" * 2001},
        {"q": "a", "limit": 0},
        {"q": "a", "cursor": "soon"},
        {"q": "a", "cursor": "9" * 20},
    ):
        answer = await gateway.client.get("/api/search", params=wrong, headers=anna)
        assert answer.status_code == 422, wrong


async def test_pages_go_on_with_older_messages(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    for number in range(5):
        await say(gateway, session_id, f"tea number {number}")
        await asyncio.sleep(0.005)
    pages: list[list[str]] = []
    cursor: dict[str, str] = {}
    while True:
        found = await search(gateway, anna, "tea ", limit=2, **cursor)
        pages.append([one["snippet"] for one in found["items"]])
        if found["next_cursor"] is None:
            break
        cursor = {"cursor": found["next_cursor"]}
    assert pages == [["tea number 4", "tea number 3"], ["tea number 2", "tea number 1"], ["tea number 0"]]


@pytest.mark.thorough
async def test_what_was_said_before_anybody_searched_is_indexed_beside_the_search(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    await say(gateway, session_id, "the first otter", *(f"word {number}" for number in range(AT_ONCE * 2)))
    await say(gateway, await gateway.session(anna), "the last otter")
    user_id = UserId((await gateway.client.get("/api/auth/me", headers=anna)).json()["id"])
    searching = SearchMessages(index=MongoMessageIndex(gateway.database))
    first = await searching(user_id, "otter", limit=20, before=None)
    assert first.is_complete is False
    indexing = asyncio.create_task(searching.index_until_cancelled())
    async with asyncio.timeout(20):
        while not (found := await searching(user_id, "otter", limit=20, before=None)).is_complete:
            await asyncio.sleep(0.05)
    indexing.cancel()
    assert {one.snippet for one in found.items} == {"the first otter", "the last otter"}


@pytest.mark.thorough
async def test_two_processes_that_index_at_once_index_each_message_once(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    await say(gateway, await gateway.session(anna), *(f"otter {number}" for number in range(250)))
    user_id = UserId((await gateway.client.get("/api/auth/me", headers=anna)).json()["id"])
    indexes = [MongoMessageIndex(gateway.database) for _ in range(4)]
    assert all(await asyncio.gather(*(index.catch_up(user_id, most=1000) for index in indexes)))
    # Read as the index reads: what is written last is not yet durable.
    messages = gateway.database.get_collection("search_messages", read_concern=ReadConcern("local"))
    assert await messages.count_documents({"user_id": user_id}) == 250
