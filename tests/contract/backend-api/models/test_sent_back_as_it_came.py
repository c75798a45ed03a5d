"""What a provider adds to a call or a part goes back as it came, to the model that sent it and to no other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from backend_api.agent.events import (
    ErrorEvent,
    MessageCompleted,
    Notice,
    RunFinished,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.model import ModelInfo
from backend_api.agent.options import Options
from backend_api.agent.tool import Done
from backend_api.kit.ids import SessionId
from support.adapters import adapter_of
from support.model_server import Answer, ModelServer
from support.scripted import HandlerBox
from support.stage import Stage, worker_for, working

Json = dict[str, Any]
GOOGLE: Json = {"google": {"thought_signature": "c2lnbmVk+/=="}}
MODEL, OTHER = "gemini-3-pro-preview", "some-model"


def chunk(finish: str | None = None, **delta: Any) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int, call_id: str, arguments: str = "{}", **more: Any) -> Json:
    function = {"name": "look", "arguments": arguments}
    return chunk(tool_calls=[{"index": index, "id": call_id, "type": "function", "function": function, **more}])


@dataclass(kw_only=True)
class Play:
    """One conversation with a model server that takes any request; each message has a worker of its own, which knows
    what is stored and nothing else."""

    server: ModelServer
    form: str = "chat"
    stage: Stage = field(default_factory=Stage)
    session: SessionId | None = None

    async def say(self, *answers: Answer, model: str = MODEL, options: Options | None = None) -> RunFinished:
        async def look(*_: Any) -> Done:
            return Done(success=True, output="seen")

        tools = HandlerBox()
        tools.add("look", look)
        chat = adapter_of(self.form, self.server.url)
        self.session = self.session or await self.stage.open_session(title="named")
        info = ModelInfo(id=model, label=model, provider=self.form)
        async with working(worker_for(self.stage, chat, tools, info=info, defaults=options)):
            self.server.script.clear()
            self.server.answer(*answers)
            end = await self.stage.until_finished(await self.stage.say(self.session, "go"))
        await chat.aclose()
        return end

    def events(self, kind: type[Any]) -> list[Any]:
        assert self.session is not None
        return self.stage.payloads(self.session, kind)

    def sent(self, role: str = "assistant") -> list[Json]:
        """The messages of a role in the last request."""
        body = self.server.requests[-1]
        return [one for one in body.get("messages") or body["input"] if one.get("role", "assistant") == role]


@pytest.fixture
async def play() -> AsyncIterator[Play]:
    async with ModelServer(Answer(texts=("Well.",)), is_strict=False) as server:
        yield Play(server=server)


def signed() -> Answer:
    """As Gemini answers where it calls two tools at once: the first call alone is signed."""
    frames = [call(0, "a", '{"n": 1}', extra_content=GOOGLE), call(1, "b", '{"n": 2}'), chunk("tool_calls")]
    return Answer(frames=frames)


async def test_the_signature_of_a_call_goes_back_with_it(play: Play) -> None:
    assert (await play.say(signed())).status == "completed"
    (message,) = play.sent()
    first, second = message["tool_calls"]
    assert first["extra_content"] == GOOGLE
    assert "extra_content" not in second
    assert [set(one) for one in (first["function"], second)] == [{"name", "arguments"}, {"id", "type", "function"}]


async def test_the_signature_of_a_call_is_known_to_the_next_worker(play: Play) -> None:
    await play.say(signed())
    await play.say()
    assert play.sent()[0]["tool_calls"][0]["extra_content"] == GOOGLE
    assert all(json.loads(called.opaque)["model"] == MODEL for called in play.events(ToolCalled) if called.opaque)


async def test_the_signature_of_a_call_stays_where_thinking_is_off_and_the_prompt_changes(play: Play) -> None:
    await play.say(signed(), options=Options(enable_thinking=False))
    await play.say()
    assert play.sent()[0]["tool_calls"][0]["extra_content"] == GOOGLE


async def test_what_one_model_added_goes_to_no_other_one(play: Play) -> None:
    await play.say(signed(), Answer(frames=[chunk(content="So.", extra_content=GOOGLE), chunk("stop")]))
    await play.say(model=OTHER)
    assert "thought_signature" not in json.dumps(play.server.requests[-1])
    await play.say()
    assert play.sent()[0]["tool_calls"][0]["extra_content"] == GOOGLE


@pytest.mark.parametrize("thinks", [None, False])
async def test_what_is_added_to_a_message_goes_back_with_it_and_is_not_shown(play: Play, thinks: bool | None) -> None:
    options = Options(enable_thinking=thinks)
    await play.say(
        Answer(frames=[chunk(content="So."), chunk("stop", content="", extra_content=GOOGLE)]), options=options
    )
    await play.say(options=options)
    assert play.sent()[0] == {"role": "assistant", "content": "So.", "extra_content": GOOGLE}
    assert [thought.text for thought in play.events(ThinkingCompleted)] == [""]


async def test_what_is_longer_than_is_kept_is_left_out(play: Play) -> None:
    long = Answer(frames=[call(0, "a", extra_content={"x": "y" * 300_000}), chunk("tool_calls")])
    assert (await play.say(long)).status == "completed"
    assert "extra_content" not in play.sent()[0]["tool_calls"][0]


async def test_content_in_parts_is_shown_as_text_and_goes_back_in_parts(play: Play) -> None:
    """As with Mistral's models that think."""

    def thinking(text: str) -> Json:
        return chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": text}], "closed": True}])

    text = chunk(content=[{"type": "text", "text": "I look."}])
    await play.say(Answer(frames=[thinking("H"), thinking("m."), text, call(0, "a"), chunk("tool_calls")]))
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True}
    assert play.sent()[0]["content"] == [thought, {"type": "text", "text": "I look."}]
    assert [one.text for one in play.events(MessageCompleted)] == ["I look.", "Well."]
    assert [one.text for one in play.events(ThinkingCompleted)] == ["Hm."]
    await play.say(model=OTHER)
    assert play.sent()[0]["content"] == "I look."


@pytest.mark.parametrize(
    "pieces", [["<think>Hm.</think>So."], ["<th", "ink>Hm.</thi", "nk>\n\nSo."], ["Hm.</th", "ink>So."]]
)
@pytest.mark.parametrize("form", ["chat", "responses", "messages"])
async def test_thinking_in_tags_is_neither_shown_nor_sent_back_as_text(
    play: Play, form: str, pieces: list[str]
) -> None:
    play.form = form
    await play.say(Answer(texts=pieces))
    await play.say()
    assert [one.text for one in play.events(MessageCompleted)] == ["So.", "Well."]
    assert [one.text for one in play.events(ThinkingCompleted)] == ["Hm."]
    assert "think>" not in json.dumps(play.server.requests[-1])
    assert "Hm." not in json.dumps(play.server.requests[-1])


async def test_thinking_in_tags_is_left_out_of_a_title_and_a_summary(play: Play) -> None:
    await play.say(Answer(texts=("So.",)))
    play.server.answer(Answer(texts=("It is al", "l well.\n</think>", "\n\nIn short.")))
    chat = adapter_of(play.form, play.server.url)
    async with working(worker_for(play.stage, chat, info=ModelInfo(id=MODEL, label=MODEL, provider="openai"))):
        assert play.session is not None
        await play.stage.until_finished(await play.stage.compact(play.session, None))
    await chat.aclose()
    await play.say()
    summary = play.sent("user")[0]["content"]
    assert "In short." in summary
    assert "It is all well." not in summary


@pytest.mark.parametrize(
    ("form", "frames", "kept"),
    [
        (
            "responses",
            [
                {
                    "type": "response.output_item.done",
                    "item": {"type": "web_search_call", "id": "ws", "status": "done"},
                },
                {"type": "response.output_text.delta", "delta": "I look."},
                {
                    "type": "response.output_item.done",
                    "item": {"type": "message", "role": "assistant", "phase": "commentary", "content": []},
                },
                {
                    "type": "response.output_item.done",
                    "item": {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}", "mark": "m"},
                },
                {"type": "response.completed", "response": {}},
            ],
            [
                {"type": "web_search_call", "id": "ws", "status": "done"},
                {"type": "message", "role": "assistant", "phase": "commentary", "content": "I look."},
                {"type": "function_call", "name": "look", "arguments": "{}", "mark": "m"},
            ],
        ),
        (
            "messages",
            [
                {"type": "content_block_start", "index": 0, "content_block": {"type": "new", "data": "x"}},
                {"type": "content_block_stop", "index": 0},
                {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "", "mark": "t"}},
                {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look."}},
                {"type": "content_block_stop", "index": 1},
                {
                    "type": "content_block_start",
                    "index": 2,
                    "content_block": {"type": "tool_use", "id": "a", "name": "look", "input": {}, "mark": "m"},
                },
                {"type": "content_block_stop", "index": 2},
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
                {"type": "message_stop"},
            ],
            [
                {"type": "new", "data": "x"},
                {"type": "text", "text": "I look.", "mark": "t"},
                {"type": "tool_use", "name": "look", "input": {}, "mark": "m"},
            ],
        ),
    ],
)
async def test_other_formats_have_back_what_they_added(
    play: Play, form: str, frames: list[Json], kept: list[Json]
) -> None:
    play.form = form
    assert (await play.say(Answer(frames=frames))).status == "completed"
    sent = play.sent()[0]["content"] if form == "messages" else play.sent()
    ours = ("id", "call_id", "cache_control")
    shown = [
        {name: value for name, value in one.items() if name not in ours or one["type"] == "web_search_call"}
        for one in sent
    ]
    assert [one for one in shown if not one["type"].endswith("_output")] == kept
    await play.say(model=OTHER)
    assert '"mark"' not in json.dumps(play.server.requests[-1])


@pytest.mark.parametrize("said", ["Half", ""])
async def test_half_an_answer_stays_and_the_run_fails_with_the_reason(play: Play, said: str) -> None:
    frames = [chunk(content=said), call(0, "a"), chunk("error")]
    end = await play.say(*[Answer(frames=frames)] * 4)
    assert (end.status, end.retryable) == ("failed", True)
    assert 'ended its answer before it was complete ("error")' in (end.reason or "")
    assert [one.text for one in play.events(MessageCompleted)] == ([said] if said else [])
    assert [error.code for error in play.events(ErrorEvent)] == ["model_answer"]
    assert not play.events(ToolCalled)
    # Asked again only where nothing was shown, as often as calls that fail are.
    assert len(play.server.requests) == (1 if said else 4)
    assert (await play.say()).status == "completed"


async def test_a_command_of_one_call_at_two_indexes_runs_once(play: Play) -> None:
    """As LocalAI sends it."""
    await play.say(Answer(frames=[call(0, "a", '{"n": 1}'), call(1, "a", '{"n": 1}'), chunk("tool_calls")]))
    assert len(play.events(ToolFinished)) == 1


@pytest.mark.parametrize(
    "said",
    [
        '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>',
        'I look.\n\n[TOOL_CALLS][{"name": "look", "arguments": {}}]',
        "<think>Hm.</think><function=look>{}</function>",
    ],
)
async def test_a_call_that_is_written_as_text_is_told_with_what_the_server_lacks(play: Play, said: str) -> None:
    assert (await play.say(Answer(texts=(said,)))).status == "completed"
    (notice,) = play.events(Notice)
    assert notice.code == "call_as_text"
    assert "tool parser" in notice.text
    assert len(play.server.requests) == 1


async def test_an_empty_answer_is_asked_again_and_then_told(play: Play) -> None:
    end = await play.say(*[Answer(raw=b": alive\n\ndata: [DONE]\n\n")] * 4)
    assert (end.status, len(play.server.requests)) == ("failed", 4)
    assert "sent an empty answer" in (end.reason or "")
