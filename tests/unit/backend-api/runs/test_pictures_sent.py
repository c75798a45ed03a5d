"""Pictures that tools take reach a model that sees: the same ones, byte for byte, until an opening leaves some out."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend_api.agent.capabilities.pictures import BLIND, LEFT_OUT
from backend_api.agent.capability import Capabilities
from backend_api.agent.events import BodyPart, ContextOpened, Event, MessageCompleted, RunFinished, ToolFinished
from backend_api.agent.model import (
    FinishPart,
    ModelInfo,
    ModelRequest,
    ModelRequestError,
    Part,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
)
from backend_api.agent.new_events import Body
from backend_api.agent.pictures import MOST_PICTURES, MOST_PICTURES_BYTES, Picture
from backend_api.agent.thread import Thread
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.domain.errors import EventBodyNotFoundError
from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import SessionId
from backend_api.models.anthropic import input as anthropic_input
from backend_api.models.openai import chat_messages
from backend_api.runs.application.pictures import PictureCache
from backend_api.runs.capabilities import capabilities
from support.memory.sessions import MemoryEventLog
from support.memory.store import MemoryStore
from support.photographs import jpeg, png
from support.scripted import ANY, SCRIPTED, HandlerBox, OnOutput, Script, ScriptedModel
from support.stage import Stage, worker_for, working

STOP, CALLS, LENGTH = FinishPart("stop"), FinishPart("tool_calls"), FinishPart("length")
BLIND_ONE = replace(SCRIPTED, context_window=10**9)
"""So many pictures fill no window: a summary would number the answers anew."""
SEEING = replace(BLIND_ONE, vision=True)
OTHER = replace(SEEING, id="other")


class FussyModel(ScriptedModel):
    """May refuse whatever has a picture in it."""

    def __init__(self, *scripts: Script) -> None:
        super().__init__(*scripts)
        self.refuses = False
        self.refused = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        if self.refuses and request.pictures:
            self.refused += 1
            raise ModelRequestError("could not process image")
        async for part in super().stream(request):
            yield part


def taken(name: str, shade: int) -> tuple[bytes, str]:
    """A small picture, a large one, or something that looks like one; no two of them are alike."""
    match name:
        case "print":
            return jpeg(size=3_000_000, shade=shade), "image/jpeg"
        case "scribble":
            return b"\x89PNG\r\n\x1a\n" + bytes([shade % 256]) * 50, "image/png"
        case _:
            return png(shade=shade), "image/png"


def camera() -> HandlerBox:
    tools, numbers = HandlerBox(), count()

    async def run(call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        body, media_type = taken(call.name, next(numbers))
        is_whole = call.name != "scribble"
        return Done(success=is_whole, output=f"{call.name}.", body=body, body_media_type=media_type)

    async def plot(call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        contents = [(b"the whole text", "text/plain")]
        contents += [(png(shade=shade), "image/png") for shade in (0, 100)]
        parts: list[BodyPart] = []
        for content, media_type in contents:
            offset = parts[-1].offset + parts[-1].size if parts else 0
            parts.append(BodyPart(offset=offset, size=len(content), media_type=media_type))
        whole = b"".join(content for content, _ in contents)
        return Done(success=True, output="plot.", body=whole, body_media_type="application/x", body_parts=parts)

    for name in ("shoot", "print", "scribble"):
        tools.add(name, run)
    tools.add("plot", plot)
    return tools


def calls(*names: str) -> list[Part]:
    return [ToolCallPart(ToolRequest(call_id="x", name=name, arguments={})) for name in names]


def shown(request: ModelRequest) -> list[bytes]:
    """The pictures a model is sent, in order."""
    found = [request.pictures.get(picture) for turn in results(request) for picture in turn.pictures]
    return [base64.b64decode(image.base64) for image in found if image is not None]


def results(request: ModelRequest) -> list[ToolTurn]:
    return [turn for turn in request.turns if isinstance(turn, ToolTurn)]


def messages(request: ModelRequest) -> list[bytes]:
    form = anthropic_input.Form(request.model)
    return anthropic_input.messages_of(anthropic_input.spoken_in(request, form), request, form)


WRITTEN: list[Callable[[ModelRequest], list[bytes]]] = [
    chat_messages.messages_of,
    messages,
]


def wire(written: Callable[[ModelRequest], list[bytes]], request: ModelRequest) -> list[str]:
    """What is sent of the conversation in a provider's words, piece by piece; whose each one is stands before it."""
    pieces: list[str] = []
    for message in json.loads(b"[%b]" % b",".join(written(request))):
        content: Any = message["content"] or ""
        parts: list[Any] = content.split("\n\n") if isinstance(content, str) else content
        for part in parts:
            # A mark of the cache is no part of what is said, and moves.
            text = part if isinstance(part, str) else json.dumps({**part, "cache_control": None})
            pieces.append(f"{message['role']}: {text}")
    return pieces


def is_more_of(request: ModelRequest, last: ModelRequest) -> bool:
    """Whether it begins with all that was sent last, to either provider."""
    for written in WRITTEN:
        before = wire(written, last)
        if wire(written, request)[: len(before)] != before:
            return False
    return True


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["answer", "look", "gaze", "print", "scribble", "cut", "stop", "refuse"]),
        st.sampled_from(["same worker", "another worker", "blind", "another model"]),
    ),
    min_size=1,
    max_size=7,
)


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_what_was_sent_is_only_added_to_until_an_opening(steps: list[tuple[str, str]]) -> None:
    asyncio.run(play(steps))


async def play(steps: list[tuple[str, str]]) -> None:
    stage, model = Stage(), FussyModel([STOP])
    session = await stage.open_session(title="named")
    info, workers = SEEING, [worker_for(stage, model, camera(), info=SEEING)]
    for step, who in steps:
        if who != "same worker":
            info = {"blind": BLIND_ONE, "another model": OTHER}.get(who, info)
            workers.append(worker_for(stage, model, camera(), name=f"worker_{len(workers) + 1}", info=info))
        model.refuses = step == "refuse"
        model.go_on_with(*script(step, len(model.requests), stage, session))
        async with working(workers[-1]):
            await stage.until_finished(await stage.say(session, f"message {len(model.requests)}"))
    events = stage.events(session)
    last: ModelRequest | None = None
    for number, request in enumerate(model.requests):
        assert len(shown(request)) <= MOST_PICTURES
        assert sum(map(len, shown(request))) <= MOST_PICTURES_BYTES
        if (end := said_at(events, number)) is None:
            continue
        again = await sent_again(stage, session, events[:end])
        # A call that goes on with an answer is told what there is of it besides.
        assert request.turns[: len(again.turns)] == again.turns
        assert again.pictures == request.pictures
        since = said_at(events, model.requests.index(last)) or 0 if last is not None else 0
        is_opened = any(isinstance(event.payload, ContextOpened) for event in events[since:end])
        assert is_opened or (last is not None and is_more_of(request, last))
        last = request


def said_at(events: Sequence[Event], number: int) -> int | None:
    """Where the answer to a call of the model stands."""
    return next(
        (
            at
            for at, event in enumerate(events)
            if isinstance(event.payload, MessageCompleted) and f"answer {number};" in event.payload.text
        ),
        None,
    )


async def sent_again(stage: Stage, session: SessionId, events: Sequence[Event]) -> ModelRequest:
    """What a worker that knows nothing makes of the log."""
    thread, outputs = Thread(), stage.store.sessions[session].outputs
    for event in events:
        thread.apply(event, outputs.get(event.seq or 0))
    sent = Capabilities(capabilities(HandlerBox()), ANY).project(thread.conversation("none"))
    wanted = [one for turn in sent.turns if isinstance(turn, ToolTurn) for one in turn.pictures]
    pictures = await PictureCache().of(session, stage.log).load(wanted)
    return ModelRequest(model="", system="", turns=sent.turns, tools=[], max_output_tokens=1, pictures=pictures)


def script(step: str, number: int, stage: Stage, session: SessionId) -> list[list[Any]]:
    async def stop() -> None:
        await stage.stop(session)
        await asyncio.Event().wait()

    said = [TextPart(f"answer {number + index};") for index in range(9)]
    match step:
        case "look" | "refuse":
            return [[said[0], *calls("shoot", "shoot"), CALLS], [said[1], *calls("shoot"), CALLS], [said[2], STOP]]
        case "gaze":
            return [[said[at], *calls(*["shoot"] * 7), CALLS] for at in range(4)] + [[said[4], STOP]]
        case "print":
            return [[said[at], *calls("print"), CALLS] for at in range(3)] + [[said[3], STOP]]
        case "scribble":
            return [[said[0], *calls("scribble", "shoot"), CALLS], [said[1], STOP]]
        case "cut":
            return [[said[0], *calls("shoot"), CALLS], [said[1], LENGTH], [said[2], STOP]]
        case "stop":
            return [[said[0], *calls("shoot"), CALLS], [said[1], stop, STOP]]
        case _:
            return [[said[0], STOP]]


async def answered(stage: Stage, model: ScriptedModel, *, info: ModelInfo = SEEING, name: str = "w") -> SessionId:
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, camera(), info=info, name=name)):
        await stage.until_finished(await stage.say(session, "look"))
    return session


async def test_a_model_that_sees_is_sent_the_picture_itself() -> None:
    stage, model = Stage(), ScriptedModel([*calls("shoot"), CALLS], [TextPart("A dot."), STOP])
    await answered(stage, model)
    assert shown(model.requests[1]) == [png(shade=0)]
    assert results(model.requests[1])[0].output == "shoot."


async def test_several_pictures_of_one_call_are_all_sent_also_by_a_worker_that_has_only_the_log() -> None:
    stage, model = Stage(), ScriptedModel([*calls("plot"), CALLS], [TextPart("Two dots."), STOP])
    session = await answered(stage, model)
    (plot,) = results(model.requests[1])
    assert shown(model.requests[1]) == [png(shade=0), png(shade=100)]
    (finished,) = stage.payloads(session, ToolFinished)
    assert finished.body is not None
    assert [part.media_type for part in finished.body.parts] == ["text/plain", "image/png", "image/png"]
    assert [picture.seq for picture in plot.pictures] == [plot.pictures[0].seq] * 2


async def test_one_that_does_not_is_told_that_there_was_one_and_sent_none_of_its_bytes() -> None:
    stage, model = Stage(), ScriptedModel([*calls("shoot"), CALLS], [TextPart("I can't see it."), STOP])
    await answered(stage, model, info=SCRIPTED)
    assert model.requests[1].pictures == {}
    assert [(one.pictures, one.note) for one in results(model.requests[1])] == [((), BLIND)]


async def test_a_long_look_at_a_page_goes_on_seeing_what_is_new() -> None:
    rounds = MOST_PICTURES * 3
    stage = Stage()
    model = ScriptedModel(*[[*calls("shoot"), CALLS]] * rounds, [TextPart("Done."), STOP])
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, camera(), info=SEEING, max_turns=100)):
        await stage.until_finished(await stage.say(session, "look"))
    assert all(shown(request)[-1] == png(shade=at) for at, request in enumerate(model.requests[1:]))
    causes = [opened.cause for opened in stage.payloads(session, ContextOpened)]
    assert causes[0] == "started"
    assert set(causes[1:]) == {"history"}
    assert 2 <= len(causes[1:]) <= 4
    assert any(turn.note == LEFT_OUT for turn in results(model.requests[-1]))


async def test_a_picture_that_a_provider_refuses_does_not_end_the_conversation() -> None:
    stage, model = (
        Stage(),
        FussyModel([*calls("shoot"), CALLS], [TextPart("Without it."), STOP], [TextPart("On."), STOP]),
    )
    model.refuses = True
    session = await answered(stage, model)
    assert stage.said(session) == "Without it."
    assert model.refused == 1
    assert [turn.note for turn in results(model.requests[-1])] == [LEFT_OUT]
    async with working(worker_for(stage, model, camera(), info=SEEING, name="later")):
        await stage.until_finished(await stage.say(session, "and now?"))
    assert stage.said(session) == "Without it.On."
    assert model.refused == 1
    assert [opened.cause for opened in stage.payloads(session, ContextOpened)] == ["started", "history"]


async def test_what_is_refused_for_another_reason_is_told_as_it_was() -> None:
    stage, refusal = Stage(), ModelRequestError("no such model")
    model = ScriptedModel([*calls("shoot"), CALLS], [refusal], [refusal])
    session = await answered(stage, model)
    assert len(model.requests) == 3
    assert stage.payloads(session, RunFinished)[-1].reason == "no such model"
    assert len(stage.payloads(session, ContextOpened)) == 1


async def test_bytes_that_are_no_picture_are_said_to_be_unreadable_and_are_not_sent() -> None:
    stage, model = Stage(), ScriptedModel([*calls("scribble", "shoot"), CALLS], [TextPart("One."), STOP])
    await answered(stage, model)
    assert len(shown(model.requests[1])) == 1
    assert b"".join(chat_messages.messages_of(model.requests[1])).count(b"can't be read") == 1


class SlowLog(MemoryEventLog):
    """Counts bodies read; may fail or have lost them."""

    fault: Exception | None = None

    def __init__(self, content: bytes) -> None:
        super().__init__(MemoryStore())
        self.read_bodies: list[str] = []
        self._content = content

    async def body(self, session_id: SessionId, seq: int) -> Body:
        self.read_bodies.append(f"{session_id}/{seq}")
        if self.fault is not None:
            raise self.fault
        return Body(content=self._content, media_type="image/png")


def pictures(count: int, content: bytes) -> list[Picture]:
    return [Picture(seq=seq, media_type="image/png", size=len(content)) for seq in range(1, count + 1)]


async def test_pictures_are_read_once_and_never_given_to_another_session() -> None:
    log, cache = SlowLog(png()), PictureCache()
    for session in ("a", "b", "a"):
        assert len(await cache.of(SessionId(session), log).load(pictures(2, png()))) == 2
    assert log.read_bodies == ["a/1", "a/2", "b/1", "b/2"]


async def test_the_cache_has_a_bound_and_forgets() -> None:
    now = [0.0]
    content = jpeg(size=30_000)
    log, cache = SlowLog(content), PictureCache(100_000, for_s=10, clock=lambda: now[0])
    wanted = [replace(one, media_type="image/jpeg") for one in pictures(5, content)]
    mine = cache.of(SessionId("a"), log)
    assert len(await mine.load(wanted)) == 5
    await mine.load(wanted[-2:])
    assert len(log.read_bodies) == 5
    await mine.load(wanted[:1])
    assert len(log.read_bodies) == 6
    now[0] = 11
    await mine.load(wanted[:1])
    assert len(log.read_bodies) == 7


async def test_one_that_is_gone_is_left_out_and_a_database_that_fails_is_an_error() -> None:
    log = SlowLog(png())
    log.fault = EventBodyNotFoundError("gone")
    assert await PictureCache().of(SessionId("a"), log).load(pictures(1, png())) == {}
    log.fault = UnavailableError("down")
    with pytest.raises(UnavailableError):
        await PictureCache().of(SessionId("a"), log).load(pictures(1, png()))
