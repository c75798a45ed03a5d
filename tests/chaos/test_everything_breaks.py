"""Many runs while everything is killed at random: nothing is lost, nothing is doubled, nothing is left."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from pathlib import Path

import pytest

from support.chaos.brain import Brain
from support.chaos.settings import ENDED, crashes, say, trial_settings
from support.chaos.storm import Storm, end_what_is_left, left_on_machine
from support.chaos.trial import Trial
from support.chaos.verdict import Verdict
from support.fleet import Shape, run_fleet
from support.model_server import ModelServer

RUNS = int(os.environ.get("CHAOS_RUNS") or 200)
SEED = int(os.environ.get("CHAOS_SEED") or secrets.randbelow(1_000_000))
SHAPE = Shape(gateways=2, workers=2, managers=2)


@pytest.mark.timeout(3600)
async def test_whatever_is_killed_nothing_is_lost_doubled_or_left(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    say(f"seed {SEED}, {RUNS} messages (CHAOS_SEED, CHAOS_RUNS)")
    brain = Brain(random.Random(chance.getrandbits(64)))
    async with ModelServer(respond=brain) as model:
        async with run_fleet(tmp_path, SHAPE, trial_settings(model.openai_url), forged=True) as fleet:
            trial = Trial(fleet=fleet, chance=chance, sessions=max(4, min(12, RUNS // 4)), tasks=RUNS)
            storm = Storm(fleet=fleet, chance=random.Random(chance.getrandbits(64)))
            try:
                await trial.prepare()
                await through_the_storm(trial, storm)
                verdict = await trial.verdict()
                report(trial, storm, verdict)
                await trial.leave()
                ids = trial.sandbox_ids()
                await trial.aclose()
                statuses = await fleet.stop()
                left = [*trial.open_records(), *left_on_machine(fleet, ids)]
            finally:
                await trial.aclose()
                await fleet.stop()
                end_what_is_left(fleet)
            assert verdict.wrong == []
            assert verdict.answered > verdict.messages // 4, "too little was answered to have proved much"
            assert left == []
            assert set(statuses.values()) <= ENDED, statuses
            assert crashes(fleet) == []


async def through_the_storm(trial: Trial, storm: Storm) -> None:
    breaking = asyncio.create_task(storm.run())
    catastrophes = asyncio.create_task(at_shares(trial, storm))
    try:
        await trial.run_all()
        await catastrophes
    finally:
        for task in (breaking, catastrophes):
            task.cancel()
        results = await asyncio.gather(breaking, catastrophes, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result
    await storm.calm()


async def at_shares(trial: Trial, storm: Storm) -> None:
    """Redis is emptied twice and mongod restarted once, each when a part of the work is done."""
    for share, happen in ((0.25, storm.flush_redis), (0.5, storm.restart_mongod), (0.7, storm.flush_redis)):
        while trial.share_done < share:
            await asyncio.sleep(0.05)
        await happen()


def report(trial: Trial, storm: Storm, verdict: Verdict) -> None:
    say(f"{trial.seconds:.0f} s; broken: {dict(storm.done)}")
    say(f"messages {verdict.messages}, answered {verdict.answered}")
    say(f"runs {dict(verdict.endings)}, attempts {verdict.attempts}")
    say(f"calls {dict(verdict.calls)}; reasons {dict(verdict.reasons)}")
    say(f"readers {len(trial.readers)}, connections {sum(reader.connections for reader in trial.readers)}")
    for fault in verdict.wrong[:40]:
        say(f"WRONG {fault}")
