"""Runs that cost too much or take too long, over HTTP, in each wire format."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from backend_api.agent.tool import Done
from support.gateway import Gateway
from support.gateway_worker import at_work
from support.model_seals import Form
from support.model_server import ModelServer
from support.scripted import HandlerBox
from support.scripted_stack import FORMS, MODELS, SAID, call, calls, of_type

PRICES = """
[[model]]
names = ["{name}"]
prices = {{ input = 1000, output = 10000 }}
"""


def worker(seconds: float) -> HandlerBox:
    box = HandlerBox()

    async def work(*_: Any) -> Done:
        await asyncio.sleep(seconds)
        return Done(success=True, output="worked")

    box.add("work", work)
    return box


COST, MINUTES = {"max_cost": 1.0}, {"max_minutes": 2 / 60}


# What it cost is told in its own way in each format; how long it took, in none.
@pytest.mark.parametrize(
    ("bound", "code", "setting", "form"),
    [
        *((COST, "cost_budget", "MAX_RUN_COST", form) for form in FORMS),
        (MINUTES, "time_budget", "MAX_RUN_MINUTES", "chat"),
    ],
    ids=[*(f"cost-{form}" for form in FORMS), "minutes"],
)
async def test_a_run_that_cost_or_took_too_much_ends_with_the_reason(
    gateway: Gateway, tmp_path: Path, form: Form, bound: dict[str, float], code: str, setting: str
) -> None:
    models = tmp_path / "models.toml"
    models.write_text(PRICES.format(name=MODELS[form]))
    anna = await gateway.user("anna")
    made = await gateway.client.post("/api/sessions", json={"title": "named"}, headers=anna)
    url = f"/api/sessions/{made.json()['id']}"
    seconds = 2.2 if bound is MINUTES else 0.0
    async with ModelServer(SAID) as server, at_work(gateway, server, form, worker(seconds), models=models, **bound):
        server.answer(calls(call("work"), usage=(1000, 0, 10)))
        end = await gateway.client.post(f"{url}/runs", json={"text": "go"}, headers=anna, timeout=60)
        assert end.json()["status"] == "failed"
        assert setting in end.json()["reason"]
        assert len(server.requests) == 1, "no answer more is paid for"
        again = await gateway.client.post(f"{url}/runs", json={"text": "and now?"}, headers=anna, timeout=60)
        assert again.json()["status"] == "completed"
        assert server.refusals == []
    events = (await gateway.client.get(f"{url}/events?format=json&limit=500", headers=anna)).json()["items"]
    assert [event["code"] for event in of_type(events, "error")] == [code]
