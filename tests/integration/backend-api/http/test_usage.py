"""What a session cost, over HTTP."""

from __future__ import annotations

from backend_api.agent.events import MessageUser, RunFinished, Usage
from backend_api.kit.ids import SessionId
from support.gateway import Gateway


async def test_the_state_of_a_session_sums_its_runs_and_tells_known_from_whole(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id, ledger = SessionId(await gateway.session(anna)), gateway.ports.ledger
    user_id = (await gateway.client.get("/api/auth/me", headers=anna)).json()["id"]
    for cost, total, known in ((0.1, 0.1, 0.1), (0.2, 0.3, 0.3), (None, None, 0.3)):
        accepted = await ledger.accept(session_id, user_id, MessageUser(message_id=f"m{cost}", text="go"))
        lease = await ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
        assert lease is not None
        counts = {"input": 5, "cached": 1, "output": 2, "thinking": 0, "cache_write": 3}
        used = Usage(**counts, cost=cost, known_cost=cost or 0.0, by_model={"m": counts})
        finished = RunFinished(run_id=lease.run.id, status="completed", usage=used)
        assert await ledger.finish(lease, finished, seen_seq=accepted.seq)
        usage = (await gateway.client.get(f"/api/sessions/{session_id}/state", headers=anna)).json()["usage"]
        assert (usage["cost"], usage["known_cost"]) == (total, known)
    assert (usage["input"], usage["cache_write"], usage["by_model"]["m"]["cache_write"]) == (15, 9, 9)
