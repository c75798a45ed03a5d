"""Messages sent while the agent works and taken back before it has read them: nothing that shows a conversation has
them, and the agent and the person are never both first."""

from __future__ import annotations

import asyncio
from typing import Any

from backend_api.agent.approvals import Approval
from backend_api.agent.events import ApprovalCall, MessageCompleted, RunFinished
from backend_api.agent.model import UserTurn
from backend_api.agent.new_events import NewEvent
from backend_api.agent.waits import Wait
from backend_api.conversations.domain.entity import Lease, RunId
from backend_api.kit.ids import SessionId
from backend_api.runs.application.histories import History
from support.gateway import Gateway

Headers = dict[str, str]


class Talk:
    """A session of Anna's with a run at work on the message `one`, which this test does."""

    def __init__(self, gateway: Gateway, headers: Headers, session_id: SessionId) -> None:
        self.gateway, self.headers, self.id = gateway, headers, session_id
        self.url = f"/api/sessions/{session_id}"
        self.ledger = gateway.ports.ledger

    async def ask(self, method: str, path: str, status: int, json: Any = None) -> Any:
        answer = await self.gateway.client.request(method, self.url + path, json=json, headers=self.headers)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def say(self, text: str) -> dict[str, Any]:
        return dict(await self.ask("POST", "/messages", 202, {"text": text}))

    async def shown(self) -> list[str]:
        return [one["text"] for one in (await self.ask("GET", "/state", 200))["messages"]]

    async def model_reads(self) -> list[str]:
        history = History(self.id)
        await history.read_on(self.gateway.ports.log)
        turns = history.threads.main.conversation("none").turns
        return [turn.text for turn in turns if isinstance(turn, UserTurn)]

    async def finish(self, lease: Lease, *, seen_seq: int, status: Any = "completed") -> bool:
        said = MessageCompleted(message_id="a", text="first", turn=1, seen_seq=seen_seq)
        finished = RunFinished(run_id=lease.run.id, status=status)
        return bool(await self.ledger.finish(lease, finished, seen_seq=seen_seq, said=[NewEvent(payload=said)]))


async def at_work(gateway: Gateway) -> tuple[Talk, Lease, dict[str, Any]]:
    headers = await gateway.user("anna")
    talk = Talk(gateway, headers, SessionId(await gateway.session(headers)))
    first = await talk.say("one")
    lease = await talk.ledger.claim("w", lease_s=30, model="m", run_id=RunId(first["run_id"]))
    assert lease is not None
    return talk, lease, first


async def test_a_message_that_was_taken_back_is_nowhere_and_keeps_no_run_from_its_end(gateway: Gateway) -> None:
    talk, lease, first = await at_work(gateway)
    stays = await talk.say("a gardener")
    gone = await talk.say("a glacier")
    await talk.ask("DELETE", f"/messages/{gone['message_id']}", 204)
    events = (await talk.ask("GET", f"/events?format=json&after={gone['seq']}", 200))["items"]
    told = [(one["type"], one["message_id"], one["at_seq"]) for one in events]
    assert told == [("message.withdrawn", gone["message_id"], gone["seq"])]
    # Again, as a client does whose answer was lost, it is nothing new.
    await talk.ask("DELETE", f"/messages/{gone['message_id']}", 204)
    assert (await talk.ask("GET", "", 200))["last_seq"] == events[-1]["seq"]

    assert await talk.shown() == ["one", "a gardener"]
    assert await talk.model_reads() == ["one", "a gardener"]
    page = await talk.ask("GET", "/events?format=json&before=1000&on_path=true", 200)
    assert "a glacier" not in str(page)
    client, headers = gateway.client, talk.headers
    assert (await client.get("/api/search?q=glacier", headers=headers)).json()["items"] == []
    assert len((await client.get("/api/search?q=gardener", headers=headers)).json()["items"]) == 1
    exported = (await client.get(f"{talk.url}/export?format=md", headers=headers)).text
    assert "a gardener" in exported
    assert "glacier" not in exported
    shared = (await client.post(f"{talk.url}/shares", json={"mode": "snapshot", "include": []}, headers=headers)).json()
    token = {"X-Share-Token": shared["url"].partition("#")[2]}
    seen = (await client.get(f"/api/shared/{shared['id']}/events", headers=token)).text
    assert "a gardener" in seen
    assert "glacier" not in seen
    await talk.ask("POST", f"/messages/{gone['message_id']}/undo", 404)

    # The model has read only the first one: the run goes on for the one that stays, and ends with that.
    assert not await talk.finish(lease, seen_seq=first["seq"])
    assert await talk.finish(lease, seen_seq=stays["seq"])
    forks = (await talk.ask("GET", "/branches", 200))["items"]
    assert forks == []
    sent = await talk.ask("POST", f"/messages/{first['message_id']}/edit", 202, {"text": "two", "run": False})
    assert await talk.shown() == ["two"]
    await talk.ask("PUT", "/path", 200, {"message_id": stays["message_id"]})
    assert "a glacier" not in await talk.shown()
    assert sent["message_id"]


async def test_the_run_ends_though_the_message_came_while_it_answered(gateway: Gateway) -> None:
    talk, lease, first = await at_work(gateway)
    gone = await talk.say("a glacier")
    await talk.ask("DELETE", f"/messages/{gone['message_id']}", 204)
    assert await talk.finish(lease, seen_seq=first["seq"])
    assert (await talk.ask("GET", "", 200))["status"] == "idle"


async def test_a_run_that_is_stopped_leaves_none_for_what_was_taken_back(gateway: Gateway) -> None:
    talk, lease, first = await at_work(gateway)
    gone = await talk.say("a glacier")
    await talk.ask("DELETE", f"/messages/{gone['message_id']}", 204)
    assert await talk.finish(lease, seen_seq=first["seq"], status="stopped")
    assert (await talk.ask("GET", "", 200))["status"] == "idle"


async def test_what_was_read_or_began_the_run_or_is_another_ones_is_not_taken_back(gateway: Gateway) -> None:
    talk, lease, first = await at_work(gateway)
    refused = await talk.ask("DELETE", f"/messages/{first['message_id']}", 409)
    assert refused["code"] == "message_read"
    read = await talk.say("a gardener")
    assert await talk.ledger.take_messages(lease, read["seq"]) == 0
    refused = await talk.ask("DELETE", f"/messages/{read['message_id']}", 409)
    assert refused["code"] == "message_read"
    assert await talk.model_reads() == ["one", "a gardener"]
    assert (await talk.ask("DELETE", "/messages/none", 404))["code"] == "message_not_found"
    bert = await gateway.user("bert")
    late = await talk.say("a glacier")
    url = f"{talk.url}/messages/{late['message_id']}"
    assert (await gateway.client.delete(url, headers=bert)).status_code == 404
    assert await talk.finish(lease, seen_seq=late["seq"])
    # Nothing reads it any more.
    assert (await talk.ask("DELETE", f"/messages/{late['message_id']}", 409))["code"] == "message_read"


async def test_what_a_waiting_run_would_read_is_taken_back_and_sent_again_under_its_id_it_stays_so(
    gateway: Gateway,
) -> None:
    talk, lease, first = await at_work(gateway)
    call = ApprovalCall(call_id="c", name="write", arguments={})
    wait = Wait(id="a", subject=Approval(calls=[call]), expires_s=60)
    assert await talk.ledger.wait(lease, [wait], read_seq=first["seq"])
    body = {"text": "a glacier", "client_message_id": "from-a-tab"}
    gone = await talk.ask("POST", "/messages", 202, body)
    await talk.ask("DELETE", f"/messages/{gone['message_id']}", 204)
    # Another tab, whose answer was lost, sends it again.
    again = await talk.ask("POST", "/messages", 202, body)
    assert (again["message_id"], again["duplicate"]) == (gone["message_id"], True)
    assert (await talk.ask("GET", "", 200))["status"] == "waiting"
    await talk.ask("POST", "/approvals/a", 200, {"decision": "approve"})
    again_at_work = await talk.ledger.claim("w", lease_s=30, model="m", run_id=lease.run.id)
    assert again_at_work is not None
    assert await talk.model_reads() == ["one"]
    assert await talk.finish(again_at_work, seen_seq=first["seq"])
    await talk.ask("DELETE", "", 204)
    assert (await talk.ask("DELETE", f"/messages/{gone['message_id']}", 404))["code"] == "session_not_found"


async def test_of_the_agent_and_two_tabs_exactly_one_is_first(gateway: Gateway) -> None:
    talk, lease, _ = await at_work(gateway)
    for round_ in range(8):
        said = await talk.say(f"message {round_}")
        url = f"{talk.url}/messages/{said['message_id']}"

        tabs = [gateway.client.delete(url, headers=talk.headers) for _ in range(2)]
        taking = talk.ledger.take_messages(lease, said["seq"])
        withdrawn, one, other = await asyncio.gather(taking, tabs[0], tabs[1])
        codes = {one.status_code, other.status_code}
        assert len(codes) == 1, "two tabs were told different things"
        is_gone = codes == {204}
        assert (withdrawn > said["seq"]) == is_gone
        assert (f"message {round_}" in await talk.model_reads()) != is_gone
