"""A model that sums up what another one said is asked for what it can, and is sent none of the other's thinking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.capabilities.compaction import compaction
from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.events import ContextCompacted
from backend_api.agent.model import ModelInfo
from backend_api.agent.options import Options
from backend_api.agent.tool import Done
from backend_api.runs.capabilities import COMPACT_THRESHOLD
from support.adapters import FORMS, MODELS, adapter_of
from support.model_seals import Form
from support.model_server import Answer, Call, ModelServer
from support.photographs import png
from support.scripted import HandlerBox
from support.stage import Stage, worker_for, working
from support.tables import having

LIMITS = ("max_tokens", "max_output_tokens")
ASKS_TO_THINK = ("thinking", "reasoning", "reasoning_effort", "output_config")


def shooting() -> HandlerBox:
    async def shoot(*_: Any) -> Done:
        return Done(success=True, output="shot", body=png(), body_media_type="image/png")

    box = HandlerBox()
    box.add("shoot", shoot, read_only=True)
    return box


@pytest.mark.parametrize("can_do_less", [False, True])
@pytest.mark.parametrize("form", FORMS)
async def test_another_model_sums_up_a_conversation_with_thoughts_and_pictures(
    form: Form, *, can_do_less: bool
) -> None:
    name, other = MODELS[form]
    info = ModelInfo(id=name, label=name, provider=form, vision=True)
    less = replace(info, id=other, vision=False, thinking="never", output_limit=1_000)
    async with ModelServer() as server:
        chat, stage = adapter_of(form, server.url), Stage()
        sums_up = ResolvedModel(info=less if can_do_less else replace(info, id=other), chat=chat)
        worker = worker_for(
            stage,
            chat,
            shooting(),
            info=info,
            roles={"compact": sums_up},
            defaults=Options(enable_thinking=True),
            table=having(compaction(threshold=COMPACT_THRESHOLD)),
        )
        async with working(worker):
            session = await stage.open_session(title="named")
            server.answer(
                Answer(thinking=["hm"], texts=("I look.",), calls=[Call(name="shoot")]),
                Answer(redacted=True, texts=("Seen.",)),
            )
            await stage.until_finished(await stage.say(session, "look"))
            server.answer(Answer(texts=("In short.",)))
            await stage.until_finished(await stage.compact(session, None))
        await chat.aclose()
    assert server.refusals == []
    assert [one.summary for one in stage.payloads(session, ContextCompacted)] == ["In short."]
    first, _, asked = server.requests
    assert (first["model"], asked["model"]) == (name, other)
    assert [asked[limit] for limit in LIMITS if limit in asked] == [1_000 if can_do_less else 16_384]
    assert any(field in asked for field in ASKS_TO_THINK) is not can_do_less
    assert ("image/png" in str(asked)) is not can_do_less
