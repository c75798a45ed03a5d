"""Messages sent while the agent was at work stand where they are shown in every list of messages that people get."""

from __future__ import annotations

import asyncio
from typing import Any

from backend_api.agent.events import MessageCompleted, RunFinished
from backend_api.agent.new_events import NewEvent
from backend_api.conversations.domain.entity import Lease, RunId
from support.gateway import Gateway

Headers = dict[str, str]


async def post(gateway: Gateway, headers: Headers, url: str, text: str) -> dict[str, Any]:
    answer = await gateway.client.post(url, json={"text": text}, headers=headers, timeout=60)
    assert answer.status_code in (200, 202), answer.text
    return dict(answer.json())


async def claimed(gateway: Gateway, run_id: str) -> Lease:
    lease = await gateway.ports.ledger.claim("w", lease_s=30, model="m", run_id=RunId(run_id))
    assert lease is not None
    return lease


def answer(name: str, *, seen: int, turn: int, partial: bool = False) -> NewEvent:
    return NewEvent(payload=MessageCompleted(message_id=name, text=name, turn=turn, partial=partial, seen_seq=seen))


async def texts(gateway: Gateway, headers: Headers, url: str) -> list[str]:
    state = (await gateway.client.get(f"{url}/state", headers=headers)).json()
    return [one["text"] for one in state["messages"]]


async def test_the_state_and_the_result_of_a_run_have_what_interrupted_below_what_it_interrupted(
    gateway: Gateway,
) -> None:
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}"
    ledger = gateway.ports.ledger
    before = await post(gateway, anna, f"{url}/messages", "before")
    lease = await claimed(gateway, before["run_id"])
    done = RunFinished(run_id=lease.run.id, status="completed")
    assert await ledger.finish(lease, done, seen_seq=before["seq"], said=[answer("done", seen=before["seq"], turn=1)])

    waits = asyncio.create_task(post(gateway, anna, f"{url}/runs", "asked"))
    async with asyncio.timeout(30):
        while (session := (await gateway.client.get(url, headers=anna)).json())["status"] != "queued":
            await asyncio.sleep(0.02)
    state = (await gateway.client.get(f"{url}/state", headers=anna)).json()
    lease = await claimed(gateway, state["run"]["id"])
    asked = session["last_seq"] - 1
    await post(gateway, anna, f"{url}/messages", "meanwhile")
    taken = await post(gateway, anna, f"{url}/messages", "taken back")
    # Nothing has been said yet below which it could stand.
    assert await texts(gateway, anna, url) == ["before", "done", "asked", "meanwhile", "taken back"]
    await ledger.record(lease, [answer("cut", seen=asked, turn=1, partial=True)])
    assert await texts(gateway, anna, url) == ["before", "done", "asked", "cut", "meanwhile", "taken back"]
    gone = await gateway.client.delete(f"{url}/messages/{taken['message_id']}", headers=anna)
    assert gone.status_code == 204, gone.text
    finished = RunFinished(run_id=lease.run.id, status="completed")
    assert await ledger.finish(lease, finished, seen_seq=taken["seq"], said=[answer("last", seen=taken["seq"], turn=2)])
    result = await waits
    assert [one["text"] for one in result["messages"]] == ["asked", "cut", "meanwhile", "last"]
    assert await texts(gateway, anna, url) == ["before", "done", "asked", "cut", "meanwhile", "last"]
