"""Messages that wait for the end of the run at work, over HTTP and as the gateway sends them."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import httpx
import pytest

from backend_api.agent.events import NO_USAGE, RunFinished
from backend_api.conversations.application.send_message import Message, SendMessage
from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Topic
from backend_api.message_queue.application import SendQueued
from backend_api.message_queue.domain import MAX_QUEUED, Claimed
from backend_api.message_queue.mongo import MongoQueuedMessages
from support.gateway import Gateway

Headers = dict[str, str]


class Talk:
    """A session of a user, whose runs the test drives."""

    def __init__(self, gateway: Gateway, headers: Headers, session_id: str, user_id: str) -> None:
        self.gateway, self.headers = gateway, headers
        self.id, self.user_id = SessionId(session_id), UserId(user_id)
        self.send = gateway.port("send_queued", SendQueued)

    async def ask(
        self, method: str, path: str = "", body: Any = None, headers: Headers | None = None
    ) -> httpx.Response:
        url = f"/api/sessions/{self.id}{path}"
        return await self.gateway.client.request(method, url, json=body, headers=self.headers)

    async def say(self, text: str) -> str:
        """The run that answers it."""
        return str((await self.ask("POST", "/messages", {"text": text})).json()["run_id"])

    async def queue(self, text: str, client_id: str | None = None) -> dict[str, Any]:
        answer = await self.ask("POST", "/queue", {"text": text, "client_id": client_id})
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    async def waiting(self) -> list[str]:
        return [one["text"] for one in (await self.ask("GET", "/queue")).json()["items"]]

    async def end(self, run_id: str, status: Literal["completed", "failed", "stopped"] = "completed") -> None:
        ledger = self.gateway.ports.ledger
        lease = await ledger.claim("w", lease_s=30, model="m", run_id=RunId(run_id))
        assert lease is not None
        session = await self.gateway.ports.sessions.get(self.id, self.user_id)
        finished = RunFinished(run_id=run_id, status=status, reason=None, usage=NO_USAGE)
        assert await ledger.finish(lease, finished, seen_seq=session.last_seq)

    async def events(self, kind: str) -> list[dict[str, Any]]:
        told = (await self.ask("GET", "/events?format=json")).json()["items"]
        return [one for one in told if one["type"] == kind]

    async def said(self) -> list[str]:
        return [one["text"] for one in await self.events("message.user")]

    async def active_run(self) -> str | None:
        return (await self.gateway.ports.sessions.get(self.id, self.user_id)).active_run_id


@pytest.fixture
async def talk(gateway: Gateway) -> Talk:
    anna = await gateway.user("anna")
    me = (await gateway.client.get("/api/auth/me", headers=anna)).json()
    return Talk(gateway, anna, await gateway.session(anna), me["id"])


async def test_each_is_sent_once_the_run_before_was_completed(talk: Talk) -> None:
    run = await talk.say("go")
    await talk.queue("second")
    queue = await talk.queue("third")
    assert [(one["text"], one["position"]) for one in queue["items"]] == [("second", 0), ("third", 1)]
    assert await talk.send.send_due(talk.id) is None
    assert (await talk.ask("GET", "/state")).json()["queue"] == queue
    await talk.end(run)
    accepted = await talk.send.send_due(talk.id)
    assert accepted is not None
    assert accepted.run_id != run
    assert await talk.waiting() == ["third"]
    sent = (await talk.events("message.user"))[-1]
    assert (sent["text"], sent["client_message_id"]) == ("second", queue["items"][0]["id"])
    assert await talk.send.send_due(talk.id) is None
    assert [one["count"] for one in await talk.events("queue.updated")] == [1, 2, 1]


async def test_the_gateway_itself_sends_what_is_told_to_be_due(talk: Talk) -> None:
    run = await talk.say("go")
    await talk.queue("second")
    await talk.end(run)
    await talk.gateway.ports.notifier.notify(Topic.QUEUE_DUE, talk.id)
    async with asyncio.timeout(10):
        while await talk.said() != ["go", "second"] or await talk.waiting():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("status", ["stopped", pytest.param("failed", marks=pytest.mark.thorough)])
async def test_after_a_run_that_was_not_completed_it_waits_and_says_so(
    talk: Talk, status: Literal["stopped", "failed"]
) -> None:
    run = await talk.say("go")
    first = (await talk.queue("second"))["items"][0]
    await talk.queue("third")
    await talk.end(run, status)
    assert await talk.send.send_due(talk.id) is None
    assert (await talk.ask("GET", "/queue")).json()["held"] == status
    now = await talk.ask("POST", f"/queue/{first['id']}/send")
    assert now.status_code == 202, now.text
    assert await talk.said() == ["go", "second"]
    await talk.end(now.json()["run_id"])
    await talk.send.send_due(talk.id)
    assert await talk.said() == ["go", "second", "third"]


async def test_sent_now_it_cuts_the_run_at_work(talk: Talk) -> None:
    run = await talk.say("go")
    lease = await talk.gateway.ports.ledger.claim("w", lease_s=30, model="m", run_id=RunId(run))
    assert lease is not None
    await talk.queue("second")
    third = (await talk.queue("third"))["items"][1]
    sent = (await talk.ask("POST", f"/queue/{third['id']}/send")).json()
    assert sent["run_id"] == run
    assert [one.kind for one in await talk.gateway.ports.ledger.renew(lease, lease_s=30)] == ["redirect"]
    assert await talk.waiting() == ["second"]
    again = await talk.ask("POST", f"/queue/{third['id']}/send")
    assert (again.status_code, again.json()["code"]) == (404, "queued_message_not_found")


@pytest.mark.thorough
async def test_gateways_that_look_at_once_send_each_once_and_one_a_run(talk: Talk) -> None:
    run = await talk.say("go")
    for number in range(3):
        await talk.queue(f"{number}")
    await talk.end(run)
    for number in range(3):
        sent = await asyncio.gather(*(talk.send.send_due(talk.id) for _ in range(6)))
        runs = {one.run_id for one in sent if one is not None}
        assert len(runs) == 1
        assert await talk.said() == ["go", *(f"{one}" for one in range(number + 1))]
        await talk.end(runs.pop())
    assert await talk.waiting() == []


async def claimed_and_left(talk: Talk) -> tuple[SendQueued, Claimed]:
    """A claim of a process that was killed: it lapses at once."""
    run = await talk.say("go")
    await talk.queue("second", "mine")
    await talk.end(run)
    store = MongoQueuedMessages(talk.gateway.database, claim_s=0.001)
    claimed = await store.claim_due(talk.id)
    assert claimed is not None
    await asyncio.sleep(0.01)
    return talk.send, claimed


@pytest.mark.thorough
async def test_killed_between_sending_and_removal_it_is_not_sent_twice(talk: Talk) -> None:
    send, claimed = await claimed_and_left(talk)
    message = Message(text=claimed.message.text, client_message_id="mine", alone=True)
    sending = talk.gateway.port("send_message", SendMessage)
    accepted = await sending(talk.id, talk.user_id, message)
    # Its own run keeps the session busy, which is no reason to send it once more.
    assert (await sending(talk.id, talk.user_id, message)).duplicate
    await talk.end(accepted.run_id)
    assert await send.send_due(talk.id) is None
    assert (await talk.said(), await talk.waiting()) == (["go", "second"], [])
    # The client's own retry comes later still.
    assert (await talk.queue("second", "mine"))["items"] == []


@pytest.mark.thorough
async def test_killed_before_sending_it_is_sent_by_whoever_looks_next(talk: Talk) -> None:
    send, _ = await claimed_and_left(talk)
    assert await send.send_due(talk.id) is not None
    assert (await talk.said(), await talk.waiting()) == (["go", "second"], [])


@pytest.mark.thorough
async def test_what_is_being_sent_is_neither_edited_nor_taken_away(talk: Talk) -> None:
    run = await talk.say("go")
    await talk.queue("second", "mine")
    await talk.end(run)
    claimed = await MongoQueuedMessages(talk.gateway.database).claim_due(talk.id)
    assert claimed is not None
    for method, path, body in (
        ("PATCH", "/queue/mine", {"text": "other", "version": 1}),
        ("DELETE", "/queue/mine", None),
        ("POST", "/queue/mine/send", None),
    ):
        refused = await talk.ask(method, path, body)
        assert (refused.status_code, refused.json()["code"]) == (409, "queued_message_leaving"), method


async def test_a_message_of_the_person_goes_first(talk: Talk) -> None:
    run = await talk.say("go")
    await talk.queue("second", "mine")
    await talk.end(run)
    message = Message(text="second", client_message_id="mine", alone=True)
    await talk.say("in between")
    refused = await asyncio.gather(
        talk.gateway.port("send_message", SendMessage)(talk.id, talk.user_id, message), return_exceptions=True
    )
    assert [getattr(one, "code", None) for one in refused] == ["not_alone"]
    assert await talk.send.send_due(talk.id) is None
    assert (await talk.said(), await talk.waiting()) == (["go", "in between"], ["second"])


async def test_of_two_tabs_that_edit_at_once_one_is_told(talk: Talk) -> None:
    await talk.say("go")
    item = (await talk.queue("second"))["items"][0]
    path = f"/queue/{item['id']}"
    edits = [talk.ask("PATCH", path, {"text": text, "version": 1}) for text in ("one", "two")]
    answers = await asyncio.gather(*edits)
    assert sorted(one.status_code for one in answers) == [200, 409]
    refused = next(one for one in answers if one.status_code == 409)
    assert refused.json()["code"] == "queued_message_changed"
    kept = next(one for one in answers if one.status_code == 200).json()["items"]
    assert await talk.waiting() == [kept[0]["text"]]
    assert (kept[0]["version"], kept[0]["edited_at"] is None) == (2, False)


async def test_they_are_put_in_order_and_taken_away(talk: Talk) -> None:
    await talk.say("go")
    for number in range(3):
        await talk.queue(f"{number}", f"id-{number}")
    ordered = await talk.ask("POST", "/queue/order", {"ids": ["id-2", "id-0", "id-1"]})
    assert [one["text"] for one in ordered.json()["items"]] == ["2", "0", "1"]
    for wrong in (["id-2", "id-0"], ["id-2", "id-2", "id-0"], ["id-2", "id-0", "id-1", "id-3"]):
        refused = await talk.ask("POST", "/queue/order", {"ids": wrong})
        assert (refused.status_code, refused.json()["code"]) == (409, "queue_changed")
    assert (await talk.ask("DELETE", "/queue/id-0")).status_code == 204
    assert (await talk.ask("DELETE", "/queue/id-0")).status_code == 404
    assert await talk.waiting() == ["2", "1"]


async def test_sent_again_under_its_id_it_waits_once(talk: Talk) -> None:
    await talk.say("go")
    await asyncio.gather(*(talk.queue("second", "mine") for _ in range(4)))
    assert await talk.waiting() == ["second"]
    assert [one["count"] for one in await talk.events("queue.updated")] == [1]


async def test_a_queue_has_a_limit_and_its_messages_those_of_messages(talk: Talk) -> None:
    await talk.say("go")
    for body, status in (({"text": "  "}, 422), ({"text": "a" * 100_001}, 413), ({"text": "a", "client_id": "/"}, 422)):
        assert (await talk.ask("POST", "/queue", body)).status_code == status
    assert (await talk.ask("POST", "/queue", {"text": "a", "attachments": ["none.txt"]})).status_code == 422
    answers = [await talk.ask("POST", "/queue", {"text": f"{number}"}) for number in range(MAX_QUEUED - 1)]
    answers += await asyncio.gather(*(talk.ask("POST", "/queue", {"text": "last"}) for _ in range(4)))
    assert sorted(one.status_code for one in answers) == [201] * MAX_QUEUED + [409] * 3
    assert answers[-1].json().get("code", "queue_full") == "queue_full"
    item = (await talk.ask("GET", "/queue")).json()["items"][0]
    emptied = await talk.ask("PATCH", f"/queue/{item['id']}", {"text": " ", "version": 1})
    assert emptied.status_code == 422


async def test_one_that_can_not_be_sent_says_why_and_waits_for_the_person(talk: Talk) -> None:
    run = await talk.say("go")
    item = (await talk.queue("second", "mine"))["items"][0]
    await talk.gateway.database["queued_messages"].update_one(
        {"message_id": "mine"}, {"$set": {"attachments": ["gone.txt"]}}
    )
    await talk.end(run)
    with pytest.raises(Exception, match="not a file"):
        await talk.send.send_due(talk.id)
    assert await talk.send.send_due(talk.id) is None
    left = (await talk.ask("GET", "/queue")).json()["items"][0]
    assert left["problem"]["code"] == "invalid"
    mended = await talk.ask("PATCH", f"/queue/{item['id']}", {"attachments": [], "version": 1})
    assert mended.status_code == 200, mended.text
    async with asyncio.timeout(10):
        while await talk.waiting():
            await asyncio.sleep(0.02)
    assert await talk.said() == ["go", "second"]


async def test_a_deleted_session_takes_its_queue_with_it(talk: Talk) -> None:
    await talk.say("go")
    await talk.queue("second")
    assert (await talk.ask("DELETE")).status_code == 204
    assert (await talk.ask("GET", "/queue")).status_code == 404
    assert await talk.send.send_due(talk.id) is None
    async with asyncio.timeout(20):
        while await talk.gateway.database["queued_messages"].count_documents({}):
            await asyncio.sleep(0.05)
