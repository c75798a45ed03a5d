"""A sandbox whose tools show what is no picture, or none that a provider takes: the conversation goes on."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.tool import Done, ToolCall
from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.sandboxes.tool_api.sandbox_tools import outcome_of
from contracts.tools import BrowserDisplay, ToolResult
from support.model_server import Answer, Call, ModelServer
from support.photographs import jpeg, png
from support.scripted import SCRIPTED, HandlerBox, OnOutput
from support.stage import Stage, worker_for, working

SEEING = replace(SCRIPTED, vision=True)
GOOD = png()
LOOKS_WHOLE = jpeg(size=5_000)
REFUSED = Answer(status=400, message="Could not process image")
TRIES = 4
FAILED = {
    "as a fault of its own": Answer(status=500, message="Could not process image"),
    "in its stream": Answer(texts=(), fault={"type": "api_error", "message": "Could not process image"}),
    "in its stream, without a word why": Answer(texts=(), fault={"message": "panic"}),
    "by its end": Answer(texts=(), cut_after=1),
}


class Provider(ModelServer):
    """Looks twice, and then answers; to what holds any picture but the good one it gives the answer `refusing`."""

    def __init__(self, refusing: Answer = REFUSED) -> None:
        super().__init__(respond=self._answer_to)
        self.refused = 0
        self.refusing = refusing
        self.is_out = False

    def _answer_to(self, request: dict[str, Any]) -> Answer:
        sent = pictures(request)
        if self.is_out or any(picture != GOOD for picture in sent):
            self.refused += 1
            return self.refusing
        asked = json.dumps(request["messages"])
        looks = asked.count('"tool_call_id"') + asked.count('"tool_use_id"')
        return Answer(texts=("Done.",)) if looks >= 2 else Answer(texts=(), calls=(Call(name="look"),))


def pictures(request: dict[str, Any]) -> list[bytes]:
    """All that a request holds, to either provider."""
    found: list[bytes] = []

    def search(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("type") == "base64":
                found.append(base64.b64decode(value["data"]))
            if "image_url" in value and isinstance(value["image_url"], dict):
                found.append(base64.b64decode(value["image_url"]["url"].partition(",")[2]))
            value = list(value.values())
        for one in value if isinstance(value, list) else ():
            search(one)

    search(request["messages"])
    return found


def showing(*images: bytes) -> HandlerBox:
    """A tool of the sandbox that shows these, one a call."""
    left, tools = list(images), HandlerBox()

    async def look(call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        image = base64.b64encode(left.pop(0)).decode()
        display = BrowserDisplay(url="about:blank", image=image, image_media_type="image/png")
        return outcome_of(ToolResult(success=True, output="Looked.", display=display))

    tools.add("look", look)
    return tools


@pytest.fixture(params=["openai", "anthropic"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def model_of(kind: str, provider: Provider) -> OpenAiChatModel | AnthropicModel:
    if kind == "openai":
        return OpenAiChatModel(key="k", base_url=provider.openai_url)
    return AnthropicModel(key="k", base_url=provider.url)


@pytest.mark.parametrize("how", FAILED)
async def test_one_that_a_provider_fails_at_is_sent_no_more_once_it_failed_each_time(kind: str, how: str) -> None:
    stage = Stage()
    async with Provider(FAILED[how]) as provider:
        model = model_of(kind, provider)
        session = await stage.open_session(title="named")
        async with working(worker_for(stage, model, showing(LOOKS_WHOLE, GOOD), info=SEEING)):
            ends = [await stage.until_finished(await stage.say(session, text)) for text in ("look", "and now?")]
        await model.aclose()
    assert [(end.status, end.reason) for end in ends] == [("completed", None)] * 2
    assert provider.refused == TRIES
    sent = [pictures(request) for request in provider.requests]
    assert sent == [[], *[[LOOKS_WHOLE]] * TRIES, [], [GOOD], [GOOD]]


async def test_an_outage_takes_no_picture_out_of_a_conversation_and_is_waited_for_once(kind: str) -> None:
    stage, tools = Stage(), showing(GOOD)
    async with Provider(Answer(status=503, message="Out of service")) as provider:
        model = model_of(kind, provider)
        session = await stage.open_session(title="named")

        async def say(text: str) -> str | None:
            return (await stage.until_finished(await stage.say(session, text))).reason

        async with working(worker_for(stage, model, tools, info=SEEING)):
            provider.answer(Answer(texts=(), calls=(Call(name="look"),)), Answer())
            reasons = [await say("look")]
            provider.is_out = True
            reasons.append(await say("and now?"))
            provider.is_out = False
            provider.answer(Answer())
            reasons.append(await say("and now?"))
        await model.aclose()
    assert [reason and "Out of service" in reason for reason in reasons] == [None, True, None]
    assert [pictures(request) for request in provider.requests] == [[], *[[GOOD]] * (1 + TRIES), [], [GOOD]]


async def test_the_first_error_is_told_where_it_fails_without_pictures_too(kind: str) -> None:
    stage = Stage()
    async with Provider() as provider:
        model = model_of(kind, provider)
        session = await stage.open_session(title="named")
        look = Answer(texts=(), calls=(Call(name="look"),))
        first = [Answer(status=500, message="At first")] * TRIES
        provider.answer(look, *first, Answer(status=500, message="At last"))
        async with working(worker_for(stage, model, showing(GOOD), info=SEEING)):
            end = await stage.until_finished(await stage.say(session, "look"))
        await model.aclose()
    assert (end.status, "At first" in (end.reason or ""), len(provider.requests)) == ("failed", True, 2 + TRIES)
