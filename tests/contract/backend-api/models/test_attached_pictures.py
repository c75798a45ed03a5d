"""Pictures attached to a message are in the first request to a model that sees, in each provider's words."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.attachments import MOST_ATTACHED
from backend_api.agent.events import AttachmentRead, Notice, ToolCalled
from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.ids import SessionId
from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.openai.responses import OpenAiResponsesModel
from support.model_server import Answer, Call, ModelServer
from support.photographs import png
from support.scripted import SCRIPTED, HandlerBox, OnOutput
from support.stage import Stage, until, worker_for, working

SEEING = replace(SCRIPTED, vision=True)
Model = AnthropicModel | OpenAiChatModel | OpenAiResponsesModel
MODELS: dict[str, Callable[[ModelServer], Model]] = {
    "chat": lambda server: OpenAiChatModel(key="k", base_url=server.openai_url),
    "responses": lambda server: OpenAiResponsesModel(key="k", base_url=server.openai_url),
    "messages": lambda server: AnthropicModel(key="k", base_url=server.url),
}
CAT, DOG = png(shade=10), png(shade=200)
BROKEN = "Not shown: the picture broken.png, 1 bytes. It can't be decoded."


@pytest.fixture(params=MODELS)
def form(request: pytest.FixtureRequest) -> str:
    return request.param


def reader(**pictures: bytes) -> HandlerBox:
    """Reads `cat.png` as the picture of that name; of what it does not know it says that it is broken."""
    tools = HandlerBox()

    async def read(call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        path = arguments["path"]
        picture = pictures.get(path.partition(".")[0])
        if picture is None:
            return Done(success=False, output=BROKEN)
        return Done(success=True, output=f"{path}: a picture.", body=picture, body_media_type="image/png")

    tools.add("file_read", read, read_only=True)
    return tools


def said_in(request: dict[str, Any]) -> list[Any]:
    return request["input"] if "input" in request else request["messages"]


def pictures(request: dict[str, Any]) -> list[bytes]:
    """All that a request holds, in order."""
    text = json.dumps(said_in(request))
    encoded = [piece.partition('"')[0] for piece in text.split("data:image/png;base64,")[1:]]
    encoded += [piece.partition('"')[0] for piece in text.split('"data": "')[1:]]
    return [base64.b64decode(one) for one in encoded]


async def ask(
    stage: Stage, model: Model, tools: HandlerBox, messages: Sequence[tuple[str, Sequence[str]]], *, sees: bool = True
) -> SessionId:
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, tools, info=SEEING if sees else SCRIPTED)):
        for text, attachments in messages:
            end = await stage.until_finished(await stage.say(session, text, attachments=attachments))
            assert (end.status, end.reason) == ("completed", None)
    await model.aclose()
    return session


async def test_a_model_that_sees_gets_them_with_the_message_and_keeps_them(form: str) -> None:
    stage = Stage()
    async with ModelServer() as server:
        files = ["cat.png", "notes.txt", "Dog.PNG"]
        messages: list[tuple[str, list[str]]] = [("what is on these?", files), ("and now?", [])]
        session = await ask(stage, MODELS[form](server), reader(cat=CAT, Dog=DOG), messages)
    first, second = server.requests
    assert [pictures(first), pictures(second)] == [[CAT, DOG], [CAT, DOG]]
    assert "The user attached this picture: cat.png." in json.dumps(said_in(first))
    read = stage.payloads(session, AttachmentRead)
    assert [(one.paths, one.body.media_type) for one in read] == [
        (["cat.png"], "image/png"),
        (["Dog.PNG"], "image/png"),
    ]
    assert stage.payloads(session, ToolCalled) == []


async def test_a_model_that_does_not_see_is_told_which_there_are(form: str) -> None:
    async with ModelServer() as server:
        await ask(Stage(), MODELS[form](server), reader(cat=CAT), [("look", ["cat.png"])], sees=False)
    (request,) = server.requests
    assert pictures(request) == []
    said = json.dumps(said_in(request))
    assert "The user attached this picture: cat.png." in said
    assert "You can't see pictures." in said


async def test_of_one_that_is_broken_model_and_person_read_why(form: str) -> None:
    stage = Stage()
    async with ModelServer() as server:
        session = await ask(stage, MODELS[form](server), reader(cat=CAT), [("look", ["broken.png", "cat.png"])])
    assert pictures(server.requests[0]) == [CAT]
    told = f"The user attached the picture broken.png, which can't be shown. {BROKEN}"
    assert json.dumps(told)[1:-1] in json.dumps(said_in(server.requests[0]))
    [notice] = stage.payloads(session, Notice)
    assert notice.text == f"The picture broken.png could not be shown to the model: {BROKEN}"
    assert (notice.code, notice.params) == ("picture_not_shown", {"path": "broken.png", "reason": BROKEN})


async def test_of_many_the_first_ones_are_shown_and_the_others_named(form: str) -> None:
    names = [f"p{number}.png" for number in range(MOST_ATTACHED + 2)]
    shots = {name.partition(".")[0]: png(shade=number) for number, name in enumerate(names)}
    async with ModelServer() as server:
        await ask(Stage(), MODELS[form](server), reader(**shots), [("look", names)])
    assert pictures(server.requests[0]) == [*shots.values()][:MOST_ATTACHED]
    assert r"These are not shown; look at one with file_read:\\n- p8.png\\n- p9.png" in json.dumps(
        json.dumps(said_in(server.requests[0]))
    )


async def test_those_of_a_message_that_joins_a_run_are_in_its_next_request(form: str) -> None:
    stage, tools, begun, go_on = Stage(), reader(cat=CAT), asyncio.Event(), asyncio.Event()

    async def wait(call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        begun.set()
        await go_on.wait()
        return Done(success=True, output="Waited.")

    tools.add("wait", wait)
    async with ModelServer() as server:
        server.answer(Answer(texts=(), calls=(Call(name="wait"),)))
        model = MODELS[form](server)
        session = await stage.open_session(title="named")
        async with working(worker_for(stage, model, tools, info=SEEING)):
            run = await stage.say(session, "wait")
            await begun.wait()
            await stage.say(session, "look meanwhile", attachments=["cat.png"])
            go_on.set()
            await stage.until_finished(run)
        await model.aclose()
    assert [pictures(request) for request in server.requests] == [[], [CAT]]


async def test_another_worker_goes_on_with_the_same_bytes(form: str) -> None:
    stage, tools = Stage(), reader(cat=CAT)
    async with ModelServer() as server:
        server.answer(Answer(hang=True))
        session = await stage.open_session(title="named")
        first, second = MODELS[form](server), MODELS[form](server)
        async with working(worker_for(stage, first, tools, info=SEEING)):
            run = await stage.say(session, "look", attachments=["cat.png"])
            await until(lambda: len(server.requests) == 1)
        stage.lapse(run)
        async with working(worker_for(stage, second, tools, name="worker_2", info=SEEING)):
            await stage.until_finished(run)
        await first.aclose()
        await second.aclose()
    before, after = server.requests
    assert pictures(before) == [CAT]
    assert said_in(before) == said_in(after)
    assert [path["path"] for _, path in tools.started] == ["cat.png"]


async def test_no_more_are_shown_where_another_worker_goes_on_in_the_midst_of_them(form: str) -> None:
    names = [f"p{number}.png" for number in range(20)]
    shots = {name.partition(".")[0]: png(shade=number) for number, name in enumerate(names)}
    stage, tools, begun = Stage(), HandlerBox(), asyncio.Event()

    async def hang_at_the_fifth(call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        if arguments["path"] == names[4]:
            begun.set()
            await asyncio.Event().wait()
        picture = shots[arguments["path"].partition(".")[0]]
        return Done(success=True, output="A picture.", body=picture, body_media_type="image/png")

    tools.add("file_read", hang_at_the_fifth, read_only=True)
    async with ModelServer() as server:
        session = await stage.open_session(title="named")
        first, second = MODELS[form](server), MODELS[form](server)
        async with working(worker_for(stage, first, tools, info=SEEING)):
            run = await stage.say(session, "look", attachments=names)
            await begun.wait()
        stage.lapse(run)
        async with working(worker_for(stage, second, reader(**shots), name="worker_2", info=SEEING)):
            await stage.until_finished(run)
        await first.aclose()
        await second.aclose()
    [request] = server.requests
    assert pictures(request) == [*shots.values()][:MOST_ATTACHED]
    assert stage.payloads(session, AttachmentRead)[-1].paths == names[MOST_ATTACHED:]
