"""Tools that are loaded, as providers with a tool search of their own are told of them; strict servers listen."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest

from backend_api.agent.capability import Setup
from backend_api.agent.events import ToolCalled, ToolFinished
from backend_api.agent.model import ModelInfo
from backend_api.agent.options import Options
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, local_tool
from backend_api.agent.tools.tool_families import LOAD_TOOLS, USE_TOOL_OF_FAMILY
from backend_api.kit.ids import SessionId
from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.model_facts import ModelFacts
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.openai.responses import OpenAiResponsesModel
from support.model_server import Answer, Call, ModelServer
from support.scripted import HandlerBox
from support.stage import Stage, worker_for, working

Json = dict[str, Any]
CLAUDE, GPT, OLD = "claude-new", "gpt-new", "some-model"


class Keys(Arguments):
    keys: str


class Box(HandlerBox):
    """More than is told at once: the pair, two families, and many tools of no family."""

    def __init__(self) -> None:
        super().__init__()

        async def run(*_: Any) -> Done:
            return Done(success=True, output="done")

        for number in range(30):
            self.add(f"plain_{number}", run, read_only=True)
        for number in range(300):
            self.add(f"mcp__shop__order_{number}", run)

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        async def press(call: ToolCall, arguments: Keys) -> Done:
            self.started.append((call.name, call.arguments))
            return Done(success=True, output=f"pressed {arguments.keys}")

        keyboard = local_tool(
            name="desktop_keyboard",
            description="Press keys.",
            arguments=Keys,
            phrase="Pressing",
            effect="writes",
            run_call=press,
        )
        return [LOAD_TOOLS, USE_TOOL_OF_FAMILY, keyboard, *await super().tools(setup)]


def load(model: str, call_id: str = "l", **arguments: str) -> Answer:
    call = Call(name="load_tools", arguments=json.dumps(arguments), id=call_id, is_search=model == GPT)
    return Answer(thinking=["hm"], texts=(), calls=[call])


def press(keys: str = "Return", call_id: str = "p") -> Answer:
    call = Call(name="desktop_keyboard", arguments=json.dumps({"keys": keys}), id=call_id)
    return Answer(thinking=["so"], texts=(), calls=[call])


@dataclass(kw_only=True)
class Play:
    """One conversation with models of several providers, each message with a worker that knows what is stored alone."""

    server: ModelServer
    adapters: dict[str, Any]
    stage: Stage = field(default_factory=Stage)
    session: SessionId = field(default=SessionId(""))
    boxes: list[Box] = field(default_factory=list[Box])

    async def say(self, model: str, *answers: Answer) -> str:
        self.boxes.append(Box())
        info = ModelInfo(id=model, label=model, provider="test")
        worker = worker_for(
            self.stage,
            self.adapters[model],
            self.boxes[-1],
            name=f"worker_{len(self.boxes)}",
            info=info,
            defaults=Options(enable_thinking=True),
        )
        self.server.answer(*answers)
        async with working(worker):
            return (await self.stage.until_finished(await self.stage.say(self.session, "go"))).status

    @property
    def last(self) -> Json:
        return self.server.requests[-1]

    def blocks(self, kind: str) -> list[Json]:
        """Of the last request."""
        if "input" in self.last:
            return [item for item in self.last["input"] if item["type"] == kind]
        return [one for message in self.last["messages"] for one in message["content"] if one["type"] == kind]

    def outputs(self) -> list[str]:
        return [one.preview for one in self.stage.payloads(self.session, ToolFinished)]


@pytest.fixture
async def play() -> AsyncIterator[Play]:
    def knows(_: str) -> ModelFacts:
        return ModelFacts(thinking_form="adaptive", tool_search=True)

    async with ModelServer(Answer(texts=("Well.",))) as server, AsyncExitStack() as stack:
        adapters: dict[str, Any] = {
            CLAUDE: AnthropicModel(key="k", base_url=server.url, facts=knows),
            GPT: OpenAiResponsesModel(key="k", base_url=server.openai_url, facts=knows),
            OLD: OpenAiChatModel(key="k", base_url=server.openai_url),
        }
        for adapter in adapters.values():
            await stack.enter_async_context(aclosing(adapter))
        one = Play(server=server, adapters=adapters)
        one.session = await one.stage.open_session(title="named")
        yield one
        assert server.refusals == []


async def test_claude_is_sent_references_and_calls_what_was_loaded_by_its_name(play: Play) -> None:
    assert await play.say(CLAUDE, load(CLAUDE, family="desktop"), press()) == "completed"
    first, after, last = play.server.requests
    assert not any(tool.get("defer_loading") for tool in first["tools"])
    assert after["tools"][: len(first["tools"])] == first["tools"], "what was sent before stays"
    (added,) = after["tools"][len(first["tools"]) :]
    assert (added["name"], added["defer_loading"], added["description"]) == ("desktop_keyboard", True, "Press keys.")
    assert [*added["input_schema"]["properties"]] == ["keys"]
    loaded, pressed = play.blocks("tool_result")
    assert loaded["content"] == [{"type": "tool_reference", "tool_name": "desktop_keyboard"}]
    assert pressed["content"] == "pressed Return"
    assert last["tools"] == after["tools"]
    assert play.boxes[0].started == [("desktop_keyboard", {"keys": "Return"})]
    assert "Press keys." in play.outputs()[0], "what is recorded and shown is the definition"


async def test_gpt_searches_and_is_answered_by_definitions(play: Play) -> None:
    assert await play.say(GPT, load(GPT, family="desktop"), press()) == "completed"
    first, after, _ = play.server.requests
    (search,) = [tool for tool in first["tools"] if tool["type"] == "tool_search"]
    assert [*search["parameters"]["properties"]] == ["family", "find"]
    assert "load_tools" not in [tool.get("name") for tool in first["tools"]]
    assert after["tools"] == first["tools"]
    (call,), (found,) = play.blocks("tool_search_call"), play.blocks("tool_search_output")
    assert (call["arguments"], call["call_id"]) == ({"family": "desktop"}, found["call_id"])
    (tool,) = found["tools"]
    assert (tool["type"], tool["name"], tool["defer_loading"]) == ("function", "desktop_keyboard", True)
    assert [one.name for one in play.stage.payloads(play.session, ToolCalled)] == ["load_tools", "desktop_keyboard"]
    assert play.boxes[0].started == [("desktop_keyboard", {"keys": "Return"})]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"family": "nothing"}, "There is no family 'nothing'"),
        ({"family": "mcp__shop"}, "mcp__shop has 300 tools"),
        ({}, "family"),
    ],
    ids=["none of that name", "too many", "bad arguments"],
)
@pytest.mark.parametrize("model", [CLAUDE, GPT])
async def test_what_is_no_definition_is_told_in_words(play: Play, model: str, asked: dict[str, str], told: str) -> None:
    assert await play.say(model, load(model, **asked), load(model, "n", family="desktop"), press()) == "completed"
    assert told in json.dumps(play.last.get("messages") or play.last["input"])
    assert play.boxes[0].started == [("desktop_keyboard", {"keys": "Return"})]


async def test_what_is_loaded_is_known_to_the_next_worker_and_to_each_other_model(play: Play) -> None:
    assert await play.say(CLAUDE, load(CLAUDE, family="desktop"), press()) == "completed"
    said = json.dumps(play.last["messages"][:-1])
    assert await play.say(CLAUDE, press("Escape", "q")) == "completed"
    assert json.dumps(play.last["messages"]).startswith(said[:200])
    assert await play.say(GPT, press("Tab", "r")) == "completed"
    assert [tool["name"] for found in play.blocks("tool_search_output") for tool in found["tools"]] == [
        "desktop_keyboard"
    ]
    use = Call(name="use_tool", arguments=json.dumps({"name": "desktop_keyboard", "arguments": {"keys": "F1"}}))
    assert await play.say(OLD, Answer(texts=(), calls=[use])) == "completed"
    (loaded, *_) = [message for message in play.last["messages"] if message["role"] == "tool"]
    assert "Press keys." in loaded["content"], "who has no search reads the definition"
    assert [keys["keys"] for box in play.boxes for _, keys in box.started] == ["Return", "Escape", "Tab", "F1"]


async def test_a_tool_that_is_loaded_twice_is_defined_once(play: Play) -> None:
    loads = [load(CLAUDE, "a", family="desktop"), load(CLAUDE, "b", family="desktop_keyboard")]
    assert await play.say(CLAUDE, *loads, press()) == "completed"
    names = [tool["name"] for tool in play.last["tools"] if tool.get("defer_loading")]
    assert names == ["desktop_keyboard"]
    assert len(play.blocks("tool_result")) == 3
