"""Many runs while everything is killed at random: nothing is lost, nothing is doubled, nothing is left."""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.chaos.brain import Brain
from support.chaos.outcome import tried
from support.chaos.settings import say, seeded, trial_settings
from support.chaos.storm import Storm
from support.chaos.trial import Trial
from support.fleet import Shape, run_fleet
from support.model_server import ModelServer
from support.sandboxes import sandbox_image, why_no_docker

SHAPE = Shape(gateways=2, workers=2, managers=2)


@dataclass(frozen=True, slots=True)
class Weather:
    """How much there is to do, and how hard it is made."""

    runs: int
    sessions: int
    kill_every_s: float
    sandbox_every: int


WEATHERS = {
    "process": Weather(runs=200, sessions=12, kill_every_s=1.0, sandbox_every=8),
    # Seconds pass until a container is ready: killed each second, no manager would live to see one.
    "docker": Weather(runs=40, sessions=4, kill_every_s=3.0, sandbox_every=2),
}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("runtime", ["process", "docker"])
async def test_whatever_is_killed_nothing_is_lost_doubled_or_left(runtime: str, tmp_path: Path) -> None:
    if runtime == "docker" and (reason := why_no_docker()) is not None:
        pytest.skip(reason)
    weather = WEATHERS[runtime]
    runs = int(os.environ.get("CHAOS_RUNS") or weather.runs)
    chance = seeded(f"{runs} messages (CHAOS_RUNS) to {runtime} sandboxes in a storm")
    brain = Brain(random.Random(chance.getrandbits(64)))
    async with ModelServer(respond=brain) as model:
        settings = trial_settings(model.openai_url)
        if runtime == "docker":
            settings["SANDBOX_IMAGE"] = sandbox_image()
        async with run_fleet(tmp_path, SHAPE, settings, runtime=runtime, forged=True) as fleet:
            trial = Trial(fleet=fleet, chance=chance, sessions=max(4, min(weather.sessions, runs // 4)), tasks=runs)
            storm = Storm(
                fleet=fleet,
                chance=random.Random(chance.getrandbits(64)),
                every_s=weather.kill_every_s,
                sandbox_every=weather.sandbox_every,
            )
            outcome = await tried(trial, lambda: through_the_storm(trial, storm))
    outcome.holds()
    verdict = outcome.verdict
    assert verdict.answered > verdict.messages // 2, "too little was answered to have proved much"


async def through_the_storm(trial: Trial, storm: Storm) -> None:
    """Redis is emptied twice and mongod restarted once, each when a part of the work is done; the rest all the time."""
    trial.begin()
    async with asyncio.TaskGroup() as group:
        breaking = group.create_task(storm.run())
        for share, happen in ((0.25, storm.flush_redis), (0.5, storm.restart_mongod), (0.7, storm.flush_redis)):
            await trial.until_share(share)
            await happen()
        await trial.until_done()
        breaking.cancel()
    await storm.calm()
    say(f"broken: {dict(storm.done)}")
