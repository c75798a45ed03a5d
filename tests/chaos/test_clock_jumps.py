"""The clocks of one gateway, one worker and one manager jump an hour ahead, an hour back and home again."""

from __future__ import annotations

import random
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from support.chaos.brain import Brain
from support.chaos.outcome import tried
from support.chaos.settings import seeded, trial_settings
from support.chaos.trial import Trial
from support.fleet import Fleet, Shape, run_fleet
from support.jumping_clock import LIBRARIES, jump, jumping_with
from support.model_server import ModelServer
from support.tls import NO_TLS

JUMPING = ("gateway-1", "worker-1", "manager-1")
HOUR_S = 3600


@pytest.mark.timeout(600)
@pytest.mark.skipif(not LIBRARIES, reason="the package faketime is not installed: a clock can't be made to jump")
async def test_an_hour_forth_and_back_ends_no_lease_no_token_and_no_sandbox(tmp_path: Path) -> None:
    chance = seeded("clock jumps")
    brain = Brain(random.Random(chance.getrandbits(64)))
    clock = tmp_path / "clock"
    faked = jumping_with(clock)
    shape = Shape(gateways=2, workers=2, managers=2)
    async with (
        ModelServer(respond=brain) as model,
        run_fleet(tmp_path, shape, trial_settings(model.openai_url), only=dict.fromkeys(JUMPING, faked)) as fleet,
    ):
        trial = Trial(fleet=fleet, chance=chance, sessions=4, tasks=24)

        async def through_time() -> None:
            trial.begin()
            for number, (share, offset) in enumerate(((0.2, HOUR_S), (0.45, -HOUR_S), (0.7, 0)), 1):
                await trial.until_share(share)
                jump(clock, offset)
                await _tokens_hold(fleet, trial, f"jumper{number}")
            await trial.until_done()

        outcome = await tried(trial, through_time)
    outcome.holds()
    verdict = outcome.verdict
    assert set(verdict.endings) <= {"completed", "stopped"}, dict(verdict.reasons)
    assert verdict.attempts == sum(verdict.endings.values()), "a lease was taken for lapsed"
    assert outcome.generations == dict.fromkeys(outcome.generations, 1), "a sandbox was ended early"


async def _tokens_hold(fleet: Fleet, trial: Trial, name: str) -> None:
    """What one gateway signs, the other one honours, whichever clock has jumped."""
    person = trial.people[0]
    for signer, reader in ((0, 1), (1, 0)):
        account = {"username": f"{name}{signer}", "password": "correct horse battery"}
        async with (
            httpx.AsyncClient(base_url=fleet.urls[signer], timeout=60, trust_env=False, verify=NO_TLS) as here,
            httpx.AsyncClient(base_url=fleet.urls[reader], timeout=60, trust_env=False, verify=NO_TLS) as there,
        ):
            grant = (await here.post("/api/auth/register", json=account)).json()
            me = await there.get("/api/auth/me", headers={"Authorization": f"Bearer {grant['access_token']}"})
            assert me.status_code == 200, me.text
            renewed = await there.post("/api/auth/refresh", json={"refresh_token": grant["refresh_token"]})
            assert renewed.status_code == 200, renewed.text
            headers = {"Authorization": f"Bearer {person.gateways.token}"}
            path = f"/api/sessions/{person.session_id}/files/link"
            link = await here.post(path, json={"path": "ledger.txt", "expires_s": 300}, headers=headers)
            assert link.status_code == 200, link.text
            file = await there.get(urlsplit(link.json()["url"]).path)
            assert file.status_code == 200, file.text
