"""Messages changed, answered again and undone: nothing is lost, and everything that reads a conversation reads the path
that is shown."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from backend_api.agent.events import (
    BodyReference,
    ContextNote,
    MessageCompleted,
    MessageUser,
    RunFinished,
    RunQueued,
    ScheduleFired,
    ThinkingCompleted,
    Todo,
    TodosUpdated,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.model import ToolTurn
from backend_api.agent.new_events import Body, NewEvent
from backend_api.conversations.domain.entity import Lease
from backend_api.kit.ids import SessionId
from backend_api.runs.application.histories import History
from support.gateway import Gateway


class Talk:
    """A session of Anna's whose runs this test works on."""

    def __init__(self, gateway: Gateway, headers: dict[str, str], session_id: str) -> None:
        self.gateway, self.headers, self.id = gateway, headers, SessionId(session_id)
        self.url = f"/api/sessions/{session_id}"

    async def ask(self, method: str, path: str, json: Any = None, status: int | None = None) -> dict[str, Any]:
        answer = await self.gateway.client.request(method, self.url + path, json=json, headers=self.headers)
        if status is not None:
            assert answer.status_code == status, answer.text
        return {"status_code": answer.status_code} | answer.json()

    async def begun(self, run_id: str) -> Lease:
        lease = await self.gateway.ports.ledger.claim("w", lease_s=30, model="m", run_id=run_id)  # type: ignore[arg-type]
        assert lease is not None
        return lease

    async def answer(self, run_id: str, text: str) -> str:
        """Work on a run and end it; answers the id of what it said."""
        lease = await self.begun(run_id)
        history = await self.history()
        seen = history.threads.main.seen_seq
        message_id = f"a-{run_id}"
        said = MessageCompleted(message_id=message_id, text=text, turn=1, seen_seq=seen)
        events = await self.gateway.ports.ledger.finish(
            lease, RunFinished(run_id=run_id, status="completed"), seen_seq=seen, said=[NewEvent(payload=said)]
        )
        assert events, "the run had something left to read"
        return message_id

    async def say(self, text: str, answered: str) -> tuple[str, str]:
        sent = await self.ask("POST", "/messages", {"text": text}, 202)
        return sent["message_id"], await self.answer(sent["run_id"], answered)

    async def interrupt(self, *, stops: bool = False, text: str = "cut") -> tuple[str, str, str, str]:
        """A message sent while the answer to another one is written, which it cuts; answers the ids of both, of what
        was cut, and of the run that answers the later one."""
        asked = await self.ask("POST", "/messages", {"text": "one"}, 202)
        lease = await self.begun(asked["run_id"])
        seen = (await self.history()).threads.main.seen_seq
        meanwhile = await self.ask("POST", "/messages", {"text": "meanwhile"}, 202)
        ledger = self.gateway.ports.ledger
        cut = NewEvent(payload=MessageCompleted(message_id="cut", text=text, turn=1, partial=True, seen_seq=seen))
        if stops:
            finished = RunFinished(run_id=lease.run.id, status="stopped")
            await ledger.finish(lease, finished, seen_seq=seen, said=[cut])
            run_id = (await self.gateway.ports.sessions.get(self.id, lease.run.user_id)).active_run_id
        else:
            await ledger.record(lease, [cut])
            seen = (await self.history()).threads.main.seen_seq
            answer = MessageCompleted(message_id=f"a-{lease.run.id}", text="second", turn=2, seen_seq=seen)
            finished, run_id = RunFinished(run_id=lease.run.id, status="completed"), lease.run.id
            await ledger.finish(lease, finished, seen_seq=seen, said=[NewEvent(payload=answer)])
        return asked["message_id"], meanwhile["message_id"], "cut", run_id or ""

    async def history(self) -> History:
        history = History(self.id)
        await history.read_on(self.gateway.ports.log)
        return history

    async def model_reads(self) -> list[str]:
        turns = (await self.history()).threads.main.conversation("none").turns
        return [turn.text for turn in turns if not isinstance(turn, ToolTurn) and turn.text]

    async def shown(self) -> list[str]:
        return [one["text"] for one in (await self.ask("GET", "/state", status=200))["messages"]]

    async def forks(self) -> list[tuple[str | None, list[tuple[str, int, bool]]]]:
        items = (await self.ask("GET", "/branches", status=200))["items"]
        return [
            (one["after_message_id"], [(c["message_id"], c["messages"], c["is_shown"]) for c in one["children"]])
            for one in items
        ]


async def talk_of(gateway: Gateway, name: str = "anna") -> Talk:
    headers = await gateway.user(name)
    return Talk(gateway, headers, await gateway.session(headers))


async def test_an_edited_message_is_answered_on_a_path_of_its_own_and_the_one_before_stays(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    await talk.say("one", "first")
    asked, answer = await talk.say("two", "second")
    went = await talk.ask("POST", f"/messages/{asked}/edit", {"text": "two, better", "run": True}, 202)
    assert (await talk.ask("GET", "", status=200))["status"] == "queued"
    better = await talk.answer(went["run_id"], "second, better")
    assert await talk.shown() == ["one", "first", "two, better", "second, better"] == await talk.model_reads()
    ((after, ways),) = await talk.forks()
    assert ways == [(asked, 2, False), (went["message_id"], 2, True)]
    assert after is not None
    (fork,) = (await talk.ask("GET", "/branches", status=200))["items"]
    assert [one["begins"] for one in fork["children"]] == ["two", "two, better"]
    # And back, and there again.
    assert (await talk.ask("PUT", "/path", {"message_id": answer}, 200))["changed"] is True
    assert await talk.shown() == ["one", "first", "two", "second"] == await talk.model_reads()
    assert (await talk.ask("PUT", "/path", {"message_id": answer}, 200))["changed"] is False
    await talk.say("three", "third")
    await talk.ask("PUT", "/path", {"message_id": better}, 200)
    assert await talk.shown() == ["one", "first", "two, better", "second, better"]
    await talk.ask("PUT", "/path", {"message_id": asked}, 200)
    assert await talk.shown() == ["one", "first", "two", "second", "three", "third"] == await talk.model_reads()


async def test_what_is_saved_without_a_run_waits_to_be_answered(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    asked, _ = await talk.say("one", "first")
    went = await talk.ask("POST", f"/messages/{asked}/edit", {"text": "uno", "run": False}, 202)
    assert went["run_id"] is None
    assert (await talk.ask("GET", "", status=200))["status"] == "idle"
    assert await talk.shown() == ["uno"]
    again = await talk.ask("POST", f"/messages/{went['message_id']}/regenerate", status=202)
    assert again["message_id"] == went["message_id"]
    await talk.answer(again["run_id"], "primo")
    assert await talk.shown() == ["uno", "primo"] == await talk.model_reads()


async def test_an_answer_is_made_again_and_each_can_be_shown(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    asked, first = await talk.say("one", "first")
    again = await talk.ask("POST", f"/messages/{first}/regenerate", status=202)
    assert again["message_id"] == asked
    assert await talk.model_reads() == ["one"]
    other = await talk.answer(again["run_id"], "other")
    assert await talk.forks() == [(asked, [(first, 1, False), (other, 1, True)])]
    await talk.ask("PUT", "/path", {"message_id": first}, 200)
    assert await talk.forks() == [(asked, [(first, 1, True), (other, 1, False)])]


async def test_what_is_undone_is_given_back_and_can_be_shown_again(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    await talk.say("one", "first")
    asked, _ = await talk.say("two", "second")
    undone = await talk.ask("POST", f"/messages/{asked}/undo", status=200)
    assert (undone["text"], undone["attachments"]) == ("two", [])
    assert await talk.shown() == ["one", "first"] == await talk.model_reads()
    assert [[(one[0], one[1]) for one in ways] for _, ways in await talk.forks()] == [[(asked, 2)]]
    # A run that begins by itself ends, though a message of another path is a later one.
    await talk.say("three", "third")
    assert await talk.shown() == ["one", "first", "three", "third"]


@pytest.mark.parametrize("stops", [True, False])
async def test_a_message_that_interrupted_is_undone_without_the_answer_above_it(
    gateway: Gateway, *, stops: bool
) -> None:
    talk = await talk_of(gateway)
    # Of a long answer the end stands in a document of its own.
    long = "cut" * 30_000
    _, meanwhile, cut, run_id = await talk.interrupt(stops=stops, text=long)
    if stops:
        await talk.answer(run_id, "second")
    assert (await talk.ask("POST", f"/messages/{meanwhile}/undo", status=200))["text"] == "meanwhile"
    assert await talk.shown() == ["one", long] == await talk.model_reads()
    assert await talk.forks() == [(cut, [(meanwhile, 2, False)])]
    await talk.ask("PUT", "/path", {"message_id": meanwhile}, 200)
    assert await talk.model_reads() == ["one", long, "meanwhile", "second"]
    went = await talk.ask("POST", f"/messages/{meanwhile}/edit", {"text": "better", "run": True}, 202)
    await talk.answer(went["run_id"], "third")
    assert await talk.model_reads() == ["one", long, "better", "third"]


@pytest.mark.parametrize("stops", [True, False])
async def test_an_answer_that_was_interrupted_is_for_its_own_question(gateway: Gateway, *, stops: bool) -> None:
    talk = await talk_of(gateway)
    asked, meanwhile, cut, run_id = await talk.interrupt(stops=stops)
    if stops:
        await talk.answer(run_id, "second")
    made = await talk.ask("POST", "/branch", {"message_id": cut}, 201)
    other = Talk(gateway, talk.headers, made["id"])
    assert await other.shown() == ["one", "cut"]
    assert (await other.model_reads())[:2] == ["one", "cut"]
    assert made["status"] == "idle"
    events = await gateway.ports.log.read(other.id, after=0, limit=100)
    assert ("run.finished" in [one.payload.type for one in events]) == stops
    again = await talk.ask("POST", f"/messages/a-{run_id}/regenerate", status=202)
    assert again["message_id"] == meanwhile
    assert await talk.model_reads() == ["one", "cut", "meanwhile"]
    await talk.answer(again["run_id"], "other")
    again = await talk.ask("POST", f"/messages/{cut}/regenerate", status=202)
    assert again["message_id"] == asked
    assert await talk.model_reads() == ["one"]
    await talk.answer(again["run_id"], "first")
    assert await talk.shown() == ["one", "first"]


@pytest.mark.thorough
async def test_with_a_message_of_a_schedule_goes_what_says_so(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    fired = ScheduleFired(schedule_id="s", message_id="m")
    await gateway.ports.log.append(talk.id, [fired, MessageUser(message_id="m", text="each morning")])
    await talk.ask("POST", "/messages/m/undo", status=200)
    page = await talk.ask("GET", "/events?format=json&before=1000&on_path=true", status=200)
    assert [one["type"] for one in page["items"]] == ["path.selected"]


async def test_a_branch_is_deleted_with_the_number_of_messages_that_was_said(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    asked, first = await talk.say("one", "first")
    await talk.say("two", "second")
    again = await talk.ask("POST", f"/messages/{asked}/regenerate", status=202)
    other = await talk.answer(again["run_id"], "other")
    refused = await talk.ask("DELETE", f"/branches/{first}?messages=2")
    assert (refused["status_code"], refused["code"]) == (409, "branch_grew")
    refused = await talk.ask("DELETE", f"/branches/{other}")
    assert (refused["status_code"], refused["code"]) == (409, "branch_shown")
    assert (await talk.ask("DELETE", f"/branches/{first}?messages=3", status=200))["messages"] == 3
    assert await talk.forks() == []
    gone = await talk.ask("PUT", "/path", {"message_id": first})
    assert (gone["status_code"], gone["code"]) == (404, "message_not_found")
    assert await talk.shown() == ["one", "other"]


async def test_nothing_is_changed_while_a_run_goes_on_or_waits(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    first, _ = await talk.say("one", "first")
    sent = await talk.ask("POST", "/messages", {"text": "two"}, 202)
    before = await talk.gateway.ports.log.read(talk.id, after=0, limit=1_000)
    tries = [
        ("POST", f"/messages/{first}/edit", {"text": "uno", "run": True}),
        ("POST", f"/messages/{first}/regenerate", None),
        ("POST", f"/messages/{first}/undo", None),
        ("POST", "/branch", {"message_id": sent["message_id"]}),
    ]
    for method, path, body in tries:
        refused = await talk.ask(method, path, body)
        assert (refused["status_code"], refused["code"]) == (409, "run_active"), path
    assert await talk.gateway.ports.log.read(talk.id, after=0, limit=1_000) == before
    # What is over can be branched from meanwhile.
    assert (await talk.ask("POST", "/branch", {"message_id": first}))["status_code"] == 201


@pytest.mark.thorough
async def test_of_two_edits_at_once_one_is_made_and_one_sent_twice_is_made_once(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    asked, _ = await talk.say("one", "first")
    body = {"text": "uno", "run": True, "client_message_id": "c-1"}
    went = await talk.ask("POST", f"/messages/{asked}/edit", body, 202)
    await talk.answer(went["run_id"], "primo")
    again = await talk.ask("POST", f"/messages/{asked}/edit", body, 202)
    assert (again["duplicate"], again["message_id"]) == (True, went["message_id"])
    assert await talk.shown() == ["uno", "primo"]


@pytest.mark.thorough
async def test_an_edit_sent_again_while_its_run_is_at_work_is_the_same(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    asked, _ = await talk.say("one", "first")
    body = {"text": "uno", "run": True, "client_message_id": "c-1"}
    went, again = await asyncio.gather(
        *(talk.ask("POST", f"/messages/{asked}/edit", body, 202) for _ in range(2)),
    )
    assert went["run_id"] == again["run_id"]
    assert sorted([went["duplicate"], again["duplicate"]]) == [False, True]
    await talk.answer(went["run_id"], "primo")
    assert await talk.shown() == ["uno", "primo"]


@pytest.mark.parametrize("at_once", [True, pytest.param(False, marks=pytest.mark.thorough)])
async def test_a_request_to_answer_again_is_done_once_however_often_it_is_sent(
    gateway: Gateway, *, at_once: bool
) -> None:
    talk = await talk_of(gateway)
    asked, first = await talk.say("one", "first")
    again = partial(talk.ask, "POST", f"/messages/{first}/regenerate", {"client_request_id": "r-1"}, 202)
    told = await asyncio.gather(*(again() for _ in range(4))) if at_once else [await again()]
    run_id = told[0]["run_id"]
    await talk.answer(run_id, "other")
    # The answer of the first was lost, and by now all of it is over.
    told.append(await again())
    assert {(one["run_id"], one["message_id"]) for one in told} == {(run_id, asked)}
    assert [one["duplicate"] for one in told].count(False) == 1
    ((_, ways),) = await talk.forks()
    assert [(id_, shown) for id_, _, shown in ways] == [(first, False), (f"a-{run_id}", True)]
    refused = await talk.ask("POST", f"/messages/{asked}/undo", {"client_request_id": "r-1"})
    assert (refused["status_code"], refused["code"]) == (409, "request_differs")


@pytest.mark.parametrize("at_once", [True, pytest.param(False, marks=pytest.mark.thorough)])
async def test_what_is_undone_is_undone_once_and_given_back_each_time(gateway: Gateway, *, at_once: bool) -> None:
    talk = await talk_of(gateway)
    await talk.say("one", "first")
    asked, _ = await talk.say("two", "second")
    again = partial(talk.ask, "POST", f"/messages/{asked}/undo", {"client_request_id": "u-1"}, 200)
    told = await asyncio.gather(*(again() for _ in range(4))) if at_once else [await again()]
    await talk.say("three", "third")
    # Sent again, or by a tab that still shows it: what was said since stays.
    told += [await again(), await talk.ask("POST", f"/messages/{asked}/undo", status=200)]
    assert {one["text"] for one in told} == {"two"}
    assert await talk.shown() == ["one", "first", "three", "third"]
    events = await gateway.ports.log.read(talk.id, after=0, limit=1_000)
    assert [one.payload.type for one in events].count("path.selected") == 1


@pytest.mark.parametrize("at_once", [True, pytest.param(False, marks=pytest.mark.thorough)])
async def test_a_conversation_is_branched_once_however_often_it_is_asked_for(
    gateway: Gateway, *, at_once: bool
) -> None:
    talk = await talk_of(gateway)
    asked, _ = await talk.say("one", "first")
    body = {"message_id": asked, "client_request_id": "b-1"}
    again = partial(talk.ask, "POST", "/branch", body, 201)
    told = await asyncio.gather(*(again() for _ in range(4))) if at_once else [await again(), await again()]
    assert len({one["id"] for one in told}) == 1
    other = await talk.ask("POST", "/branch", body | {"client_request_id": "b-2"}, 201)
    listed = (await gateway.client.get("/api/sessions", headers=talk.headers)).json()["items"]
    assert {one["id"] for one in listed} == {talk.id, told[0]["id"], other["id"]}


async def test_bad_input_has_a_clear_answer(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    asked, answer = await talk.say("one", "first")
    other = await talk_of(gateway, "bert")
    foreign, _ = await other.say("mine", "yours")
    tries = [
        (f"/messages/{answer}/edit", {"text": "x", "run": True}, (409, "not_editable")),
        (f"/messages/{answer}/undo", None, (409, "not_editable")),
        (f"/messages/{asked}/edit", {"text": "  ", "run": True}, (422, "invalid")),
        (f"/messages/{asked}/edit", {"text": "x" * 100_001, "run": True}, (413, "message_too_long")),
        (f"/messages/{asked}/edit", {"text": "x", "run": True, "attachments": ["no.txt"]}, (409, "attachment_gone")),
        (f"/messages/{foreign}/edit", {"text": "x", "run": True}, (404, "message_not_found")),
        (f"/messages/{foreign}/regenerate", None, (404, "message_not_found")),
        ("/messages/%22.*/regenerate", None, (404, "message_not_found")),
        ("/branch", {"message_id": foreign}, (404, "message_not_found")),
    ]
    for path, body, wanted in tries:
        refused = await talk.ask("POST", path, body)
        assert (refused["status_code"], refused["code"]) == wanted, (path, refused)
    assert await talk.shown() == ["one", "first"]


async def test_links_files_and_search_show_the_path_alone(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    await talk.say("one", "first")
    asked, _ = await talk.say("the old cathedral", "second")
    share = await talk.ask("POST", "/shares", {"mode": "snapshot"}, 201)
    live = await talk.ask("POST", "/shares", {"mode": "live"}, 201)
    went = await talk.ask("POST", f"/messages/{asked}/edit", {"text": "the new cathedral", "run": True}, 202)
    await talk.answer(went["run_id"], "better")

    async def texts(url: str) -> list[str]:
        share_id, token = url.rpartition("/")[2].split("#")
        page = await gateway.client.get(f"/api/shared/{share_id}/events", headers={"X-Share-Token": token})
        return [one["text"] for one in page.json()["items"] if "text" in one]

    assert await texts(live["url"]) == ["one", "first", "the new cathedral", "better"]
    # A snapshot is of the path that was shown when it was made.
    assert await texts(share["url"]) == ["one", "first", "the old cathedral", "second"]
    exported = await gateway.client.get(f"{talk.url}/export?format=md", headers=talk.headers)
    assert "new cathedral" in exported.text
    assert "old cathedral" not in exported.text
    found = await gateway.client.get("/api/search?q=cathedral", headers=talk.headers)
    assert [one["snippet"] for one in found.json()["items"]] == ["the new cathedral"]


@pytest.mark.thorough
async def test_a_page_of_the_path_leaves_out_the_rest_and_says_which(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    asked, _ = await talk.say("one", "first")
    await talk.ask("PATCH", "", {"options": {"max_turns": 7}}, 200)
    plain = await talk.ask("GET", "/events?format=json&before=1000&on_path=true", status=200)
    assert (plain["path"], plain["has_more"], len(plain["items"])) == (None, False, plain["last_seq"])
    went = await talk.ask("POST", f"/messages/{asked}/edit", {"text": "uno", "run": True}, 202)
    await talk.answer(went["run_id"], "primo")
    page = await talk.ask("GET", "/events?format=json&before=1000&on_path=true", status=200)
    since = page["path_since"]
    assert page["path"] == []
    assert [one["type"] for one in page["items"] if one["seq"] < since] == ["session.updated"]
    assert [one["type"] for one in page["items"] if one["seq"] >= since][:3] == [
        "path.selected",
        "message.user",
        "run.queued",
    ]
    last = await talk.ask("GET", "/events?format=json&before=1000&limit=2&on_path=true", status=200)
    assert (len(last["items"]), last["has_more"]) == (2, True)
    # The stream, and pages of it, tell all there is.
    whole = await talk.ask("GET", "/events?format=json&limit=1000", status=200)
    assert [one["seq"] for one in whole["items"]] == [*range(1, whole["last_seq"] + 1)]


async def test_a_branch_begins_with_what_was_said_and_knows_nothing_of_the_rest(gateway: Gateway) -> None:
    talk = await talk_of(gateway)
    first, _ = await talk.say("one", "first")
    again = await talk.ask("POST", f"/messages/{first}/edit", {"text": "uno", "run": True}, 202)
    lease = await talk.begun(again["run_id"])
    run_id, picture = lease.run.id, Body(content=b"\x89PNG", media_type="image/png")
    seen = (await talk.history()).threads.main.seen_seq
    works = [
        NewEvent(payload=ThinkingCompleted(message_id="t", text="hm", turn=1, seen_seq=seen)),
        NewEvent(payload=ToolCalled(call_id="c", name="look", arguments={}, phrase="", turn=1, seen_seq=seen)),
        NewEvent(
            payload=ToolFinished(
                call_id="c", success=True, preview="seen", body=BodyReference(size=4, media_type="image/png")
            ),
            body=picture,
            output="all of it",
        ),
        NewEvent(payload=TodosUpdated(todos=[Todo(content="write", status="pending")])),
    ]
    await gateway.ports.ledger.record(lease, works)
    answer = MessageCompleted(message_id="a", text="primo", turn=2, seen_seq=seen)
    await gateway.ports.ledger.finish(
        lease, RunFinished(run_id=run_id, status="completed"), seen_seq=seen, said=[NewEvent(payload=answer)]
    )
    await talk.say("two", "second")
    made = await talk.ask("POST", "/branch", {"message_id": "a"}, 201)
    other = Talk(gateway, talk.headers, made["id"])
    assert await other.shown() == ["uno", "primo"]
    reads = (await other.history()).threads.main.conversation("none")
    before = (await talk.history()).threads.main.conversation("none")
    assert [type(turn) for turn in reads.turns[:-1]] == [type(turn) for turn in before.turns[: len(reads.turns) - 1]]
    assert (await other.model_reads())[:2] == ["uno", "primo"]
    assert [todo.content for todo in reads.todos] == ["write"]
    page = await other.ask("GET", "/events?format=json&limit=1000", status=200)
    assert [one["seq"] for one in page["items"]] == [*range(1, page["last_seq"] + 1)]
    assert not {"path.selected", "session.updated"} & {one["type"] for one in page["items"]}
    seq = next(one["seq"] for one in page["items"] if one["type"] == "tool.finished")
    body = await gateway.client.get(f"{other.url}/events/{seq}/body", headers=talk.headers)
    assert body.content == b"\x89PNG"
    notes = await gateway.ports.log.read(other.id, after=0, limit=100)
    assert isinstance(notes[-1].payload, ContextNote)
    assert "new one" in notes[-1].payload.text
    # It goes on by itself, and the first one knows nothing of it.
    await other.say("tre", "terzo")
    assert (await other.shown())[-1] == "terzo"
    assert (await talk.shown())[-1] == "second"
    assert not [one for one in notes if isinstance(one.payload, RunQueued) and one.run_id is None]
    assert [one for one in notes if isinstance(one.payload, MessageUser)]
