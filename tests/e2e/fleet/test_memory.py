"""Memory stays flat while people come, talk and go. A bounded run; bench/load.py --minutes 30 is the long one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest

from support.api_client import ApiClient, register
from support.chaos.settings import say, trial_settings
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import Answer, ModelServer

SESSIONS = 8
MESSAGES = 5
WARM_UP = 2
ROUNDS = 6
MAX_GROWTH_MIB = 8
"""Over 240 messages: 35 KB that each leaves behind are seen."""
ANSWER = Answer(texts=["One more word of it. "] * 200)


@pytest.mark.timeout(600)
async def test_people_who_come_and_go_leave_no_memory_taken(tmp_path: Path) -> None:
    async with (
        ModelServer(default=ANSWER) as model,
        run_fleet(
            tmp_path, Shape(gateways=1, workers=1, managers=1), trial_settings(model.openai_url), runtime="fake"
        ) as fleet,
        await register(fleet.urls[0], "anna") as api,
    ):
        for _ in range(WARM_UP):
            await come_and_go(api)
        before = memory_of(fleet)
        for _ in range(ROUNDS):
            await come_and_go(api)
        after = memory_of(fleet)
    say(f"memory (MiB) over {ROUNDS * SESSIONS * MESSAGES} messages: {before} -> {after}")
    assert all(after[name] <= before[name] + MAX_GROWTH_MIB for name in before), (before, after)


async def come_and_go(api: ApiClient) -> None:
    """Each talks in a session of its own and deletes it."""

    async def one() -> None:
        session = await api.new_session()
        for _ in range(MESSAGES):
            accepted = await api.send(session, "go on")
            await api.until(session, "run.finished", after=accepted["seq"])
        (await api.http.delete(f"/sessions/{session}")).raise_for_status()

    async with asyncio.TaskGroup() as group:
        for _ in range(SESSIONS):
            group.create_task(one())


def memory_of(fleet: Fleet) -> dict[str, int]:
    """MiB each service has in use."""
    members = [*fleet.kind("gateway"), *fleet.kind("worker")]
    return {member.name: psutil.Process(member.pid).memory_info().rss >> 20 for member in members}
