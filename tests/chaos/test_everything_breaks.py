"""Many runs while everything is killed at random: nothing is lost, nothing is doubled, nothing is left."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.chaos.brain import Brain
from support.chaos.storm import Storm, end_what_is_left, left_on_machine
from support.chaos.trial import Trial
from support.chaos.verdict import Verdict
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import ModelServer

RUNS = int(os.environ.get("CHAOS_RUNS") or 200)
SEED = int(os.environ.get("CHAOS_SEED") or secrets.randbelow(1_000_000))
HAS_WORKERS = find_spec("backend_api.bootstrap.worker") is not None
SHAPE = Shape(gateways=2, workers=2 if HAS_WORKERS else 0, managers=2)
ENDED = {0, -15}


def settings(model_url: str) -> dict[str, str]:
    return {
        "LLM_PROVIDER": "openai",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_BASE_URL": model_url,
        "MODEL": "scripted",
        "MAX_TOKEN_BUDGET": "100000000",
        "RATE_LIMIT_MESSAGES_PER_MINUTE": "0",
        "SANDBOX_DESKTOP": "false",
        "SANDBOX_MAX_TOTAL": "100",
        "SANDBOX_MAX_PER_USER": "50",
    }


@pytest.mark.timeout(3600)
async def test_whatever_is_killed_nothing_is_lost_doubled_or_left(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    say(f"seed {SEED}, {RUNS} messages (CHAOS_SEED, CHAOS_RUNS)")
    brain = Brain(random.Random(chance.getrandbits(64)))
    async with ModelServer(respond=brain) as model:
        async with run_fleet(tmp_path, SHAPE, settings(model.openai_url), forged=True) as fleet:
            trial = Trial(fleet=fleet, chance=chance, sessions=max(4, min(20, RUNS // 4)), tasks=RUNS)
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
            assert verdict.answered > verdict.messages // 2, "too little was answered to have proved much"
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


def crashes(fleet: Fleet) -> list[str]:
    """What our code did not expect, by its log."""
    found: Counter[str] = Counter()
    for member in fleet.services:
        for line in member.log.read_text(errors="replace").splitlines():
            for sign in ("request failed", "run crashed", "Task exception was never retrieved", "sweep crashed"):
                if sign in line:
                    found[f"{member.name}: {line[:2000]}"] += 1
    return list(found)[:5]


def report(trial: Trial, storm: Storm, verdict: Verdict) -> None:
    say(f"{trial.seconds:.0f} s; broken: {dict(storm.done)}")
    say(f"messages {verdict.messages}, answered {verdict.answered}")
    say(f"runs {dict(verdict.endings)}, attempts {verdict.attempts}")
    say(f"calls {dict(verdict.calls)}; reasons {dict(verdict.reasons)}")
    say(f"readers {len(trial.readers)}, connections {sum(reader.connections for reader in trial.readers)}")
    for fault in verdict.wrong[:40]:
        say(f"WRONG {fault}")


def say(text: str) -> None:
    sys.stderr.write(f"chaos: {text}\n")
