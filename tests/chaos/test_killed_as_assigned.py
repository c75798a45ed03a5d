"""A worker is killed between the assignment of a run and its confirmation: each message has one answer, and soon."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.api_client import ApiClient, register
from support.chaos.settings import say, seeded, trial_settings
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import Answer, ModelServer

SHAPE = Shape(gateways=2, workers=2, managers=1)
TIMES = int(os.environ.get("CHAOS_KILLS") or 6)
USUALLY_S = 2.0
"""An assigned run is leased for a second, and then whoever assigned it tells the others of it."""
WITHIN_S = 6.0
"""Without that, they look for lapsed ones each second."""


@dataclass(slots=True)
class Trial:
    """One person's messages, each in a session of its own, while workers are killed."""

    fleet: Fleet
    api: ApiClient
    took_s: list[float] = field(default_factory=list[float])
    taken_over: int = 0

    async def announced(self) -> None:
        """Both workers are heard of by the gateways."""
        for worker in self.fleet.kind("worker"):
            if not worker.is_alive:
                worker.start()
        for worker in self.fleet.kind("worker"):
            await worker.up()
        # A worker announces itself each second.
        await asyncio.sleep(1.2)

    def kill(self, name: str) -> None:
        """End the worker of this name, which has the number of its process in it. One that was killed before may still
        be believed by what it announced last."""
        for worker in self.fleet.kind("worker"):
            if f"-{worker.pid}-" in name:
                worker.kill()

    async def killed_while_it_hears_nothing(self) -> None:
        """Both are stopped, so that the run is assigned and can't be confirmed; the one that has it is killed."""
        workers = self.fleet.kind("worker")
        session = await self.api.new_session()
        for worker in workers:
            os.kill(worker.pid, signal.SIGSTOP)
        began = time.monotonic()
        try:
            await self.api.send(session, "hello")
            (started,) = [one for one in await self.api.stored_events(session) if one["type"] == "run.started"]
            self.kill(started["worker"])
        finally:
            for worker in workers:
                if worker.is_alive:
                    os.kill(worker.pid, signal.SIGCONT)
        await self.answered_once(session, began)

    async def killed_after(self, pause_s: float) -> None:
        """The one that has it, in whatever it does by then."""
        session = await self.api.new_session()
        began = time.monotonic()
        await self.api.send(session, "hello")
        started = [one for one in await self.api.stored_events(session) if one["type"] == "run.started"]
        await asyncio.sleep(pause_s)
        if started:
            self.kill(started[0]["worker"])
        await self.answered_once(session, began)

    async def answered_once(self, session: str, began: float) -> None:
        await self.api.until(session, "run.finished", timeout_s=30)
        took_s = time.monotonic() - began
        events: list[dict[str, Any]] = await self.api.stored_events(session)
        said = [one["text"] for one in events if one["type"] == "message.completed" and not one["partial"]]
        assert said == ["Once."], events
        assert [one["status"] for one in events if one["type"] == "run.finished"] == ["completed"]
        attempts = [one["attempt"] for one in events if one["type"] == "run.started"]
        assert attempts == [*range(1, len(attempts) + 1)]
        if len(attempts) > 1:
            self.taken_over += 1
            self.took_s.append(took_s)


@pytest.mark.quiet
@pytest.mark.timeout(900)
async def test_each_message_has_one_answer_whenever_the_worker_it_was_given_to_dies(tmp_path: Path) -> None:
    chance = seeded(f"{TIMES} kills (CHAOS_KILLS) of each kind as a run is assigned")
    async with ModelServer(Answer(texts=("Once.",), first_delay_s=0.02)) as model:
        settings = trial_settings(model.openai_url)
        async with run_fleet(tmp_path, SHAPE, settings, runtime="fake", forged=True) as fleet:
            async with await register(fleet.urls[0], "person") as api:
                trial = Trial(fleet=fleet, api=api)
                for _ in range(TIMES):
                    await trial.announced()
                    await trial.killed_while_it_hears_nothing()
                unconfirmed = list(trial.took_s)
                assert len(unconfirmed) == TIMES
                say(f"killed before it confirmed: answered after {statistics.median(unconfirmed):.2f} s, {unconfirmed}")
                assert statistics.median(unconfirmed) < USUALLY_S
                assert max(unconfirmed) < WITHIN_S
                for _ in range(TIMES):
                    await trial.announced()
                    await trial.killed_after(chance.uniform(0, 0.03))
    say(f"of {2 * TIMES} messages {trial.taken_over} were taken over; those took {sorted(trial.took_s)}")
