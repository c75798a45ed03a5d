"""Runs as jobs, over all sessions of a user."""

from __future__ import annotations

import re
from typing import Any

from backend_api.agent.events import RunFinished
from backend_api.conversations.domain.entity import Lease
from backend_api.kit.notifier import Topic
from support.gateway import Gateway

Json = dict[str, Any]


async def say(gateway: Gateway, headers: dict[str, str], session: str | None = None) -> str:
    session = session or await gateway.session(headers)
    answer = await gateway.client.post(f"/api/sessions/{session}/messages", json={"text": "hello"}, headers=headers)
    assert answer.status_code == 202
    return str(answer.json()["run_id"])


async def claim(gateway: Gateway) -> Lease:
    lease = await gateway.ports.ledger.claim("worker-of-test", lease_s=60, model="demo")
    assert lease is not None
    return lease


async def finish(gateway: Gateway, lease: Lease, status: Any, reason: str | None = None) -> None:
    finished = RunFinished(run_id=lease.run.id, status=status, reason=reason)
    assert await gateway.ports.ledger.finish(lease, finished, seen_seq=100)


async def job(gateway: Gateway, headers: dict[str, str], job_id: str) -> Json:
    answer = await gateway.client.get(f"/api/jobs/{job_id}", headers=headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_a_job_tells_its_state_from_queued_to_the_end(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    job_id = await say(gateway, anna)
    queued = await job(gateway, anna, job_id)
    assert (queued["status"], queued["worker"], queued["started_at"], queued["attempt"]) == ("queued", None, None, 0)
    lease = await claim(gateway)
    running = await job(gateway, anna, job_id)
    assert (running["status"], running["worker"], running["attempt"]) == ("running", "worker-of-test", 1)
    assert running["started_at"] is not None
    await finish(gateway, lease, "interrupted", "too often")
    ended = await job(gateway, anna, job_id)
    assert (ended["status"], ended["reason"]) == ("failed", "too often")
    assert ended["finished_at"] is not None


async def test_jobs_are_listed_newest_first_by_state_and_in_pages(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    await say(gateway, bert)
    await finish(gateway, await claim(gateway), "completed")
    ids = [await say(gateway, anna) for _ in range(3)]
    await finish(gateway, await claim(gateway), "completed")
    first = (await gateway.client.get("/api/jobs", params={"limit": 2}, headers=anna)).json()
    rest = (
        await gateway.client.get("/api/jobs", params={"limit": 2, "cursor": first["next_cursor"]}, headers=anna)
    ).json()
    assert sorted(one["id"] for one in first["items"] + rest["items"]) == sorted(ids)
    assert rest["next_cursor"] is None
    created = [one["created_at"] for one in first["items"] + rest["items"]]
    assert all(re.fullmatch(r"[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z", at) for at in created)
    assert created == sorted(created, reverse=True)
    done = (await gateway.client.get("/api/jobs", params={"status": "completed"}, headers=anna)).json()
    assert [one["id"] for one in done["items"]] == [ids[0]]


async def test_a_queued_job_is_cancelled_at_once_and_an_ended_one_not_again(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    job_id = await say(gateway, anna)
    answer = await gateway.client.post(f"/api/jobs/{job_id}/cancel", headers=anna)
    assert (answer.status_code, answer.json()["status"]) == (202, "cancelled")
    again = await gateway.client.post(f"/api/jobs/{job_id}/cancel", headers=anna)
    assert (again.status_code, again.json()["code"]) == (409, "job_ended")


async def test_cancelling_a_running_job_leaves_a_stop_for_its_owner_alone(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    job_id = await say(gateway, anna)
    lease = await claim(gateway)
    async with gateway.ports.notifier.subscribe(Topic.RUN_INBOX, lease.run.id) as inbox:
        answer = await gateway.client.post(f"/api/jobs/{job_id}/cancel", headers=anna)
        assert (answer.status_code, answer.json()["status"]) == (202, "running")
        assert await inbox.next(30) == lease.run.id
    assert [message.kind for message in await gateway.ports.ledger.renew(lease, lease_s=60)] == ["stop"]
    await finish(gateway, lease, "stopped")
    later = await say(gateway, anna, lease.run.session_id)
    assert (await gateway.client.post(f"/api/jobs/{job_id}/cancel", headers=anna)).status_code == 409
    assert (await job(gateway, anna, later))["status"] == "queued"


async def test_a_foreign_job_does_not_exist(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    job_id = await say(gateway, anna)
    for answer in (
        await gateway.client.get(f"/api/jobs/{job_id}", headers=bert),
        await gateway.client.post(f"/api/jobs/{job_id}/cancel", headers=bert),
        await gateway.client.get("/api/jobs/unknown", headers=bert),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "job_not_found")
    assert (await gateway.client.get("/api/jobs", headers=bert)).json() == {"items": [], "next_cursor": None}
    assert (await job(gateway, anna, job_id))["status"] == "queued"


async def test_a_cursor_or_state_that_is_not_ours_is_refused(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    for params in ({"cursor": "nonsense"}, {"status": "sleeping"}, {"limit": 0}):
        answer = await gateway.client.get("/api/jobs", params=params, headers=anna)
        assert answer.status_code == 422, answer.text


async def test_a_run_without_a_message_is_a_job_like_any_other(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session = await gateway.session(anna)
    first = await say(gateway, anna, session)
    await finish(gateway, await claim(gateway), "failed", "the model was away")
    ended = await job(gateway, anna, first)
    assert isinstance(ended["message_id"], str)
    resumed = await gateway.client.post(f"/api/sessions/{session}/runs/{first}/resume", headers=anna)
    assert resumed.status_code == 202, resumed.text
    second = resumed.json()["run_id"]
    queued = await job(gateway, anna, second)
    assert (queued["status"], queued["message_id"], queued["attempt"]) == ("queued", None, 0)
    lease = await claim(gateway)
    assert lease.run.id == second
    listed = (await gateway.client.get("/api/jobs", headers=anna)).json()["items"]
    found = {one["id"]: (one["status"], one["message_id"]) for one in listed}
    assert found == {first: ("failed", ended["message_id"]), second: ("running", None)}
    read = (await gateway.client.get(f"/api/sessions/{session}/events", params={"format": "json"}, headers=anna)).json()
    of_run = [one for one in read["items"] if one["run_id"] == second]
    assert [(one["type"], one.get("cause"), one.get("message_id")) for one in of_run if "run." in one["type"]] == [
        ("run.queued", "resume", None),
        ("run.started", None, None),
    ]
    cancelled = await gateway.client.post(f"/api/jobs/{second}/cancel", headers=anna)
    assert (cancelled.status_code, cancelled.json()["status"]) == (202, "running")
    await finish(gateway, lease, "stopped")
    assert (await job(gateway, anna, second))["status"] == "cancelled"
