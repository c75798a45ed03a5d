"""What is remembered from session to session, with a real model server and sandbox."""

from __future__ import annotations

import pytest

from support.api_client import ApiClient
from support.model_server import Answer
from support.scripted_stack import Scripted, call, calls, in_any_form, results, said_in

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAID = Answer(texts=("Done.",))


async def test_what_is_remembered_is_there_in_the_next_session_and_within_its_cap(
    scripted: Scripted, api: ApiClient
) -> None:
    first = await api.new_session(title="named")
    scripted.answer(
        calls(
            call("memory_create", path="/memories/tea.md", file_text="Drinks green tea.\nNo sugar."),
            call("memory_create", path="/memories/long.md", file_text="x" * 4_097),
            call("memory_create", path="/memories/../etc/passwd", file_text="x"),
        ),
        SAID,
    )
    kept, long, outside = await results(api, first, await api.ask(first, "remember my tea"))
    assert "/memories/tea.md" in kept
    assert "4,096" in long
    assert "/memories" in outside
    assert [one["path"] for one in (await api.json("GET", "/memories"))["items"]] == ["tea.md"]
    second = await api.new_session(title="named")
    scripted.answer(calls(call("memory_view", path="/memories/tea.md")), SAID)
    (read,) = await results(api, second, await api.ask(second, "what do I drink?"))
    assert "No sugar." in read
    assert "Drinks green tea." in said_in(scripted.model.requests[-2])
    one = await api.http.get("/memories/tea.md")
    answer = await api.http.delete("/memories/tea.md", headers={"If-Match": one.headers["ETag"]})
    assert answer.status_code in (204, 200), answer.text


@in_any_form
async def test_what_it_keeps_in_one_session_it_reads_in_the_next_as_notes_of_the_past(
    scripted: Scripted, api: ApiClient
) -> None:
    kept = {"path": "/memories/tea.md", "file_text": "How they like tea\nGreen, without sugar"}
    scripted.answer(calls(call("memory_create", **kept)))
    try:
        await api.ask(await api.new_session(title="named", options={"enable_approval": False}), "remember my tea")
        assert "Created /memories/tea.md" in said_in(scripted.last())
        session = await api.new_session(title="named")
        scripted.answer(calls(call("memory_view", path="/memories/tea.md")))
        await api.ask(session, "make tea")
        read = said_in(scripted.last())
        for words in ("notes of the past", "(38 bytes): How they like tea", "Green, without sugar"):
            assert words in read
        listed = await api.json("GET", "/memories")
        assert [one["path"] for one in listed["items"]] == ["tea.md"]
    finally:
        await api.json("DELETE", "/memories/tea.md", expect=204, headers={"If-Match": "*"})
