"""Two real managers on one database, each with a data folder of its own, as two engines have volumes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.managers import Manager, manager_over, run
from support.servers import Server

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]
ASK = {"session_id": "s1", "user_id": "u1"}


async def test_a_session_asked_for_elsewhere_is_woken_and_started_again_where_its_files_are(
    mongo_server: Server, mongo_database_name: str, tmp_path: Path
) -> None:
    with manager_over(mongo_server, mongo_database_name, SANDBOX_MAX_PER_USER="1") as here:
        there = Manager({**here.settings, "DATA_DIR": str(tmp_path)}, made=here.made)
        async with here.running() as first, there.running() as second:
            sandbox_id = await here.ready(first)
            await run(first, sandbox_id, "echo kept > file")
            refused = await second.post(f"/sandboxes/{sandbox_id}/pause")
            await first.post(f"/sandboxes/{sandbox_id}/pause")

            asked = (await second.post("/sandboxes", json=ASK)).json()
            woken = (await second.get(f"/sandboxes/{sandbox_id}", params={"wait_ms": 60_000})).json()

            await first.post(f"/sandboxes/{sandbox_id}/pause")
            other = await there.ready(second, "s2")
            over_the_limit = (await second.post(f"/sandboxes/{sandbox_id}/resume")).json()
            await second.delete(f"/sandboxes/{other}")
            await first.delete(f"/sandboxes/{sandbox_id}", params={"keep_workspace": "true"})

            again = (await second.post("/sandboxes", json=ASK)).json()["id"]
            here.made.add(again)
            while (now := (await second.get(f"/sandboxes/{again}", params={"wait_ms": 60_000})).json())["status"] in (
                "queued",
                "starting",
            ):
                pass
            told = await run(second, again, "cat file")
            await first.delete(f"/sandboxes/{again}")

    assert (refused.status_code, refused.json()["code"]) == (503, "elsewhere")
    assert (asked["id"], asked["status"], asked["queue_position"]) == (sandbox_id, "queued", 1)
    assert woken["status"] == "ready"
    assert (over_the_limit["status"], over_the_limit["queue_reason"]) == ("queued", "user_limit")
    assert (now["status"], now["generation"]) == ("ready", 2)
    assert "kept" in told
