"""A model that sees is sent what the agent's browser shows, the same bytes for as long as the conversation lasts."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.api_client import ApiClient
from support.model_seals import Form, blocks_of
from support.model_server import Answer, Call, ModelServer
from support.scripted_stack import FORMS, model_settings
from support.stack import run_stack

pytestmark = pytest.mark.thorough

PAGE = {"path": "red.html", "content": "<body style='background:#c00'><h1>Red</h1></body>"}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer(Answer(texts=("It is red.",))) as server:
        yield server


def settings_for(model: ModelServer, form: Form, **more: str) -> dict[str, str]:
    return {**model_settings(model, form), "MODEL": "scripted", **more}


def pictures(request: dict[str, Any]) -> list[str]:
    """All JPEGs of it in base64, in their order, whatever stands around them in its form."""
    return re.findall(r'[",](/9j/[A-Za-z0-9+/=]+)"', json.dumps(request))


def looks() -> list[Answer]:
    calls = [
        Call(name="file_write", arguments=json.dumps(PAGE)),
        Call(name="browser_navigate", arguments=json.dumps({"url": "file:///workspace/red.html"})),
        Call(name="browser_screenshot"),
    ]
    return [Answer(texts=(), calls=(call,)) for call in calls]


async def is_back(api: ApiClient) -> bool:
    with suppress(httpx.HTTPError):
        return (await api.http.get("/sessions")).status_code == 200
    return False


@pytest.mark.timeout(300)
@pytest.mark.parametrize("form", FORMS)
async def test_a_page_is_seen_by_the_model_and_again_after_a_restart(
    model: ModelServer, tmp_path: Path, form: Form
) -> None:
    settings = settings_for(model, form, VISION_MODELS="scripted", MODELS="blind")
    with run_stack(tmp_path / "stack", **settings) as stack:
        api = ApiClient(stack.base_url)
        offered = await api.json("GET", "/models")
        assert {one["id"]: one["vision"] for one in offered} == {"scripted": True, "blind": False, "demo": False}
        session = await api.new_session(title="named")
        model.answer(*looks())
        events = await api.ask(session, "What colour is it?")
        shots = [event for event in events if event["type"] == "tool.finished" and event["body"]]
        assert len(shots) == 2, [event.get("preview") for event in events]
        bodies = [await api.http.get(f"/sessions/{session}/events/{shot['seq']}/body") for shot in shots]
        await api.http.aclose()
        shown = [base64.b64encode(body.content).decode() for body in bodies]
        seen = [pictures(request) for request in model.requests if request.get("tools")]
        assert seen == [[], [], shown[:1], shown]
        await stack.kill("gateway")
        async with ApiClient(stack.base_url) as api:
            async with asyncio.timeout(60):
                while not await is_back(api):
                    await asyncio.sleep(0.05)
            await api.ask(session, "Sure?")
            before, after = (blocks_of(form, request) for request in model.requests[-2:])
            assert after[: len(before)] == before
            assert pictures(model.requests[-1]) == shown
            await api.json("PATCH", f"/sessions/{session}", json={"model": "blind"})
            await api.ask(session, "And now?")
    assert pictures(model.requests[-1]) == []
    assert json.dumps(model.requests[-1]).count("You can't see pictures.") == 2
    assert model.refusals == []
