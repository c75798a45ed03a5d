"""The database's disk fills up while people work: clear answers, nothing half done, and on it goes with space."""

from __future__ import annotations

import asyncio
import contextlib
import random
from pathlib import Path

import httpx
import pytest

from support.chaos.brain import Brain
from support.chaos.outcome import tried
from support.chaos.settings import say, seeded, trial_settings
from support.chaos.trial import Trial
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import ModelServer
from support.small_disk import small_disk
from support.tls import NO_TLS

DISK_MIB = 64
OPTIONS = ("--syncdelay", "2", "--wiredTigerEngineConfigString", "log=(file_max=1MB,prealloc=false)")
"""Small journal files and many checkpoints: a full disk is felt in seconds."""
FULL_S = 5.0


@pytest.mark.timeout(600)
async def test_a_full_disk_is_told_loses_nothing_and_is_got_over(tmp_path: Path) -> None:
    chance = seeded("full disk")
    brain = Brain(random.Random(chance.getrandbits(64)))
    with small_disk(tmp_path / "disk", DISK_MIB) as disk:
        async with (
            ModelServer(respond=brain) as model,
            run_fleet(
                tmp_path,
                Shape(gateways=1, workers=1, managers=1),
                trial_settings(model.openai_url),
                mongo_folder=disk.folder / "mongo",
                mongod_options=OPTIONS,
            ) as fleet,
        ):
            trial = Trial(fleet=fleet, chance=chance, users=1, sessions=4, tasks=24)

            async def through_want_of_space() -> None:
                trial.beside(_restart(fleet))
                trial.begin()
                await trial.until_share(0.3)
                disk.fill()
                say(f"full disk: told {await _told(fleet, trial)}")
                await asyncio.sleep(FULL_S)
                disk.free()
                await trial.until_done()

            outcome = await tried(trial, through_want_of_space)
    outcome.holds()
    assert outcome.verdict.answered > outcome.verdict.messages // 2


async def _told(fleet: Fleet, trial: Trial) -> str:
    """What a person is told while nothing can be stored: a status for it, and what to do."""
    headers = {"Authorization": f"Bearer {trial.people[0].gateways.token}"}
    body = {"title": "x" * 100}
    async with httpx.AsyncClient(
        base_url=fleet.urls[0], headers=headers, timeout=60, trust_env=False, verify=NO_TLS
    ) as http:
        async with asyncio.timeout(120):
            while (answer := await http.post("/api/sessions", json=body)).status_code == 201:
                await http.delete(f"/api/sessions/{answer.json()['id']}")
        ready = await http.get("/readyz")
    assert answer.status_code in (503, 507), answer.text
    assert answer.json()["retryable"]
    assert "Try again" in answer.json()["detail"]
    assert ready.status_code == 503
    assert ready.json()["dependencies"]["mongodb"] != "ok"
    return str(answer.json()["detail"])


async def _restart(fleet: Fleet) -> None:
    """As what keeps a deployment does: a database that ended is started again, however often."""
    while True:
        await asyncio.sleep(1.0)
        for member in [fleet["mongod"], *fleet.services]:
            if not member.is_alive:
                with contextlib.suppress(AssertionError):
                    member.start()
