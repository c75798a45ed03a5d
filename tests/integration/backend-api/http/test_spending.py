"""What a user's conversations used and cost, over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from backend_api.agent.events import MessageUser, RunFinished, Usage, UsageUpdated
from backend_api.agent.new_events import NewEvent
from backend_api.agent.usage import add_usage
from backend_api.kit.ids import SessionId
from support.gateway import Gateway

USED = add_usage(Usage(), Usage(input=5, cached=1, output=2, thinking=1, cache_write=3, cost=0.1), "m")


async def ran(gateway: Gateway, headers: dict[str, str], session_id: str, usage: Usage, *, ends: bool = True) -> None:
    ledger = gateway.ports.ledger
    user_id = (await gateway.client.get("/api/auth/me", headers=headers)).json()["id"]
    accepted = await ledger.accept(SessionId(session_id), user_id, MessageUser(message_id="m", text="go"))
    lease = await ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    await ledger.record(lease, [NewEvent(payload=UsageUpdated(usage=usage))])
    if ends:
        finished = RunFinished(run_id=lease.run.id, status="completed", usage=usage)
        assert await ledger.finish(lease, finished, seen_seq=accepted.seq)


async def asked(gateway: Gateway, headers: dict[str, str], query: str = "", status: int = 200) -> Any:
    answer = await gateway.client.get(f"/api/usage{query}", headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_it_is_told_by_day_model_and_session_to_its_user_alone(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    session_id = await gateway.session(anna)
    await gateway.client.patch(f"/api/sessions/{session_id}", json={"title": "Tea"}, headers=anna)
    await ran(gateway, anna, session_id, USED)
    await ran(gateway, anna, session_id, add_usage(USED, Usage(input=1, output=1), "other"), ends=False)
    today = datetime.now(UTC).date()
    counts = {"cached": 2, "output": 5, "thinking": 2, "cache_write": 6}
    whole = {"runs": 2, "input": 11, **counts, "cost": None, "known_cost": 0.2}
    by_day = await asked(gateway, anna)
    assert by_day == {
        "by": "day",
        "since": (today - timedelta(days=29)).isoformat(),
        "until": today.isoformat(),
        "timezone": "UTC",
        "items": [{**whole, "session_id": None, "title": None, "model": None, "day": today.isoformat()}],
        "total": whole,
        "next_cursor": None,
    }
    by_model = await asked(gateway, anna, "?by=model")
    assert [(row["model"], row["input"], row["cost"], row["known_cost"]) for row in by_model["items"]] == [
        ("m", 10, 0.2, 0.2),
        ("other", 1, None, 0.0),
    ]
    (row,) = (await asked(gateway, anna, "?by=session"))["items"]
    assert (row["session_id"], row["title"], row["runs"]) == (session_id, "Tea", 2)
    assert (await asked(gateway, bert))["items"] == []
    assert (await asked(gateway, bert))["total"] == dict.fromkeys(whole, 0) | {"cost": None}
    assert (await gateway.client.delete(f"/api/sessions/{session_id}", headers=anna)).status_code == 204
    assert (await asked(gateway, anna))["total"] == whole
    (row,) = (await asked(gateway, anna, "?by=session"))["items"]
    assert (row["session_id"], row["title"], row["runs"]) == (None, None, 2)
    assert await gateway.database["runs"].count_documents({"session_id": session_id}) == 0
    kept = await gateway.database["past_usage"].find({}).to_list()
    assert {name for one in kept for name in one} == {"_id", "user_id", "created_at", "used"}


async def test_a_run_that_a_former_version_ended_meanwhile_counts_once_and_when_it_is_deleted(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    asked_for, deleted = await gateway.session(anna), await gateway.session(anna)
    for session_id in (asked_for, deleted):
        await ran(gateway, anna, session_id, USED)
        run = await gateway.database["runs"].find_one({"session_id": session_id})
        assert run is not None
        using = {"run_id": run["_id"], "created_at": run["created_at"], "used": run["used"]}
        await gateway.database["sessions"].update_one({"_id": session_id}, {"$set": {"using": using}})
        await gateway.database["runs"].update_one({"_id": run["_id"]}, {"$unset": {"used": ""}})
    assert (await gateway.client.delete(f"/api/sessions/{deleted}", headers=anna)).status_code == 204
    for session_id in (asked_for, None):
        total = (await asked(gateway, anna))["total"]
        assert (total["runs"], total["input"], total["cost"]) == (2, 10, 0.2)
        if session_id is not None:
            await gateway.database["sessions"].update_one({"_id": session_id}, {"$unset": {"using": ""}})
    assert (await gateway.client.delete(f"/api/sessions/{asked_for}", headers=anna)).status_code == 204
    total = (await asked(gateway, anna))["total"]
    assert (total["runs"], total["input"], total["cost"]) == (2, 10, 0.2)
