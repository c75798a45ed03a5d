"""A provider whose fault repeats the deployment's key: nothing that a run stores, and so nobody, is told it."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.events import ErrorEvent
from backend_api.conversations.application.event_json import event_fields
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings
from backend_api.models.wire.calls import RetryPolicy
from support.model_seals import Form
from support.model_server import Answer, ModelServer
from support.stage import Stage, worker_for, working

KEY = "hk7Qw2eRt5yUi8oP1aSd4fGh6jKl9zXc3V"
"""Of no form that gives keys away."""
AT_ONCE = RetryPolicy(max_retries=1, base_delay_s=0, max_delay_s=0)
SAID = f"The key {KEY} (Authorization: Bearer {KEY}, key={KEY[:12]}...{KEY[-6:]}) is not accepted"


def settings_for(form: Form, server: ModelServer) -> LlmSettings:
    if form == "messages":
        return LlmSettings(provider="anthropic", model="scripted", anthropic_key=KEY, anthropic_base_url=server.url)
    return LlmSettings(
        provider="openai", model="scripted", openai_key=KEY, openai_base_url=server.openai_url, openai_api=form
    )


REFUSED = Answer(status=401, message=SAID)
HALF = Answer(texts=("Half of an",), fault={"type": "authentication_error", "code": "invalid_api_key", "message": SAID})
FAULT = Answer(texts=(), fault={"type": "server_error", "message": SAID})
OTHERS = [Answer(status=status, message=SAID) for status in (400, 404, 413, 429, 500)]


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        *((form, answer) for form in ("chat", "responses", "messages") for answer in (REFUSED, HALF, FAULT)),
        *(("chat", answer) for answer in OTHERS),
    ],
)
async def test_a_key_that_a_fault_repeats_is_in_no_event(form: Form, answer: Answer) -> None:
    stage = Stage()
    async with ModelServer(answer) as server, Catalogue(settings_for(form, server), AT_ONCE) as catalogue:
        session = await stage.open_session(title="named", enable_tracing=True)
        async with working(worker_for(stage, catalogue.choose("scripted").chat)):
            ended = await stage.until_finished(await stage.say(session, "hello"))
        assert KEY in " ".join(server.headers[0].values())
    assert ended.status == "failed"
    (error,) = stage.payloads(session, ErrorEvent)
    assert "is not accepted" in error.text
    stored: list[dict[str, Any]] = [event_fields(event) for event in stage.events(session)]
    assert not [fields for fields in stored if any(KEY[at : at + 5] in str(fields) for at in range(len(KEY) - 4))]
