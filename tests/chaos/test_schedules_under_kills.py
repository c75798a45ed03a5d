"""Schedules while gateways and workers are killed around the moment they are due, and after an hour without any: each
occurrence is one message, and what was missed is one, which says so."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.api_client import ApiClient, register
from support.chaos.asker import Asker
from support.chaos.settings import crashes, say, seeded, trial_settings
from support.fleet import Fleet, Shape, run_fleet
from support.fleet_member import Member
from support.jumping_clock import LIBRARIES, jump, jumping_with
from support.model_server import ModelServer

ROUNDS = int(os.environ.get("CHAOS_ROUNDS") or 3)
AT_ONCE = 30
"""Schedules that are due in the same second: to send them all takes long enough to be cut."""
AHEAD_S = 4.0
WITHIN_S = 60.0
HOUR_S = 3600


@dataclass(slots=True)
class Trial:
    """One person's schedules, each for a session of its own or for new ones."""

    fleet: Fleet
    api: ApiClient
    chance: random.Random
    cut: int = 0
    sessions: list[str] = field(default_factory=list[str])

    async def round(self) -> None:
        """All are due at the same second, and each process is killed at some moment about it and started again."""
        due = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=AHEAD_S)
        made = await asyncio.gather(*(self.made(number, due) for number in range(AT_ONCE)))
        members = [*self.fleet.kind("gateway"), *self.fleet.kind("worker")]
        await asyncio.gather(*(self.killed(member, due) for member in members))
        killed_at = datetime.now(UTC)
        for member in members:
            member.start()
        await asyncio.gather(*(member.up() for member in members))
        ids = {one["id"] for one in made}
        sent = await self.all_sent(ids)
        # Only those after the kills show that what was cut is sent by another one.
        self.cut += sum(datetime.fromisoformat(one["last_run"]["at"]) > killed_at for one in sent)
        for schedule in sent:
            await self.sent_once(schedule)
        for schedule_id in ids:
            await self.api.json("DELETE", f"/schedules/{schedule_id}", expect=204)

    async def made(self, number: int, due: datetime) -> dict[str, Any]:
        session_id = await self.api.new_session() if number % 2 else None
        body = {"text": "a hello", "at": due.isoformat(), "timezone": "UTC", "session_id": session_id}
        return dict(await self.api.json("POST", "/schedules", json=body, expect=201))

    async def killed(self, member: Member, due: datetime) -> None:
        wait = (due - datetime.now(UTC)).total_seconds() + self.chance.uniform(-0.1, 0.1)
        await asyncio.sleep(max(wait, 0))
        member.kill()

    async def all_sent(self, ids: set[str]) -> list[dict[str, Any]]:
        async with asyncio.timeout(WITHIN_S):
            while True:
                items = (await self.api.json("GET", "/schedules"))["items"]
                sent = [one for one in items if one["id"] in ids and one["last_run"] is not None]
                if len(sent) == len(ids):
                    return sent
                await asyncio.sleep(0.2)

    async def sent_once(self, schedule: dict[str, Any]) -> None:
        session_id = schedule["last_run"]["session_id"]
        await self.api.until(session_id, "run.finished", timeout_s=WITHIN_S)
        types = [one["type"] for one in await self.api.stored_events(session_id)]
        assert [types.count(one) for one in ("schedule.fired", "message.user", "run.finished")] == [1, 1, 1], types
        self.sessions.append(session_id)


@pytest.mark.timeout(400)
async def test_each_occurrence_is_one_message_whoever_is_killed_about_it(tmp_path: Path) -> None:
    chance = seeded("schedules")
    async with ModelServer(respond=Asker()) as model:
        settings = trial_settings(model.openai_url) | {"RATE_LIMITS": "messages=0,sessions=0,settings=0"}
        shape = Shape(gateways=2, workers=2, managers=1)
        async with run_fleet(tmp_path, shape, settings, runtime="fake", forged=True) as fleet:
            async with await register(fleet.urls[0], "person") as api:
                trial = Trial(fleet, api, chance)
                for _ in range(ROUNDS):
                    await trial.round()
                page = await api.json("GET", "/sessions", params={"limit": 100})
                opened: Sequence[str] = [one["id"] for one in page["items"]]
                say(f"schedules: {len(opened)} sent, {trial.cut} of them after the processes were killed")
            assert not model.refusals
            assert not crashes(fleet)
    assert len(opened) == len(set(trial.sessions)) == ROUNDS * AT_ONCE, "no session was opened for nothing"
    assert trial.cut, "nothing was cut: the processes were killed too late"


@pytest.mark.timeout(300)
@pytest.mark.skipif(not LIBRARIES, reason="the package faketime is not installed: a clock can't be made to jump")
async def test_after_an_hour_without_any_process_one_message_is_sent_for_all(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    only = dict.fromkeys(("mongod", "gateway-1", "worker-1"), jumping_with(clock))
    async with ModelServer(respond=Asker()) as model:
        settings = trial_settings(model.openai_url)
        shape = Shape(gateways=1, workers=1, managers=1)
        async with run_fleet(tmp_path, shape, settings, runtime="fake", only=only) as fleet:
            async with await register(fleet.urls[0], "person") as api:
                session_id = await api.new_session()
                body = {"text": "a hello", "cron": "*/10 * * * *", "timezone": "UTC", "session_id": session_id}
                schedule = await api.json("POST", "/schedules", json=body, expect=201)
                first = datetime.fromisoformat(schedule["next_at"])
                members = [fleet["gateway-1"], fleet["worker-1"]]
                for member in members:
                    member.kill()
                jump(clock, 2 * HOUR_S)
                for member in members:
                    member.start()
                await asyncio.gather(*(member.up() for member in members))
                await api.until(session_id, "run.finished", timeout_s=WITHIN_S)
                (schedule,) = (await api.json("GET", "/schedules"))["items"]
                missed = schedule["last_run"]["missed"]
                # A run is at work again while the clocks go on, so that the next one is in time.
                jump(clock, 2 * HOUR_S + 600)
                later = schedule["next_at"]
                async with asyncio.timeout(WITHIN_S):
                    while schedule["next_at"] == later:
                        await asyncio.sleep(0.2)
                        (schedule,) = (await api.json("GET", "/schedules"))["items"]
                events = await api.stored_events(session_id)
            assert not model.refusals
            assert not crashes(fleet)
    assert 11 <= missed["count"] <= 12
    assert datetime.fromisoformat(missed["first_at"]) == first
    told = [event for event in events if event["type"] == "schedule.fired"]
    assert len(told) == 2
    assert (told[0]["missed"], told[0]["missed_from"]) == (missed["count"], missed["first_at"])
    assert [event["type"] for event in events].count("message.user") == 2
