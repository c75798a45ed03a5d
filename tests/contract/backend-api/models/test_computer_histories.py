"""A desktop used by the computer tools of providers: whatever happens, and whichever model comes next, each request is
one that its provider takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend_api.agent.approvals import Decision
from backend_api.agent.events import ApprovalRequested, ToolCalled, ToolFinished
from backend_api.agent.model import ModelInfo
from backend_api.agent.options import Options
from backend_api.agent.tool import Done
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunId, RunStatus
from backend_api.kit.ids import SessionId
from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.model_facts import ModelFacts
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.openai.responses import OpenAiResponsesModel
from support.computer_rules import BETAS
from support.memory.run_waits import MemoryWaits
from support.model_server import Answer, Call, ModelServer
from support.photographs import png
from support.scripted import HandlerBox
from support.stage import USER, Stage, until, worker_for, working

Json = dict[str, Any]
COMPUTER: dict[str, str | None] = {
    "gpt-new": "computer",
    "gpt-preview": "computer_use_preview",
    "gpt-without": None,
    "claude-toolset": "computer_toolset_20260801",
    "claude-20251124": "computer_20251124",
    "claude-20250124": "computer_20250124",
    "claude-without": None,
    "chat-without": None,
}
"""Models, and the computer tool of their provider that each knows."""
CLICK: Json = {"type": "click", "button": "left", "x": 3, "y": 4}
CHECKS = [{"id": "cu_sc_1", "code": "malicious_instructions", "message": "The page asks for money."}]
HELD: Json = {"actions": [CLICK, {"type": "type", "text": "yes"}], "pending_safety_checks": CHECKS}
SAID = Answer(thinking=["hm"], texts=("Well.",))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(SAID) as server:
        yield server


def uses(model: str, *actions: Json, **more: Any) -> Answer:
    """An answer that does so, in the words of the model's provider; `more` is what only OpenAI's tool has."""
    match COMPUTER[model]:
        case "computer":
            calls = [Call(name="", computer={"actions": list(actions), **more})]
        case "computer_use_preview":
            calls = [
                Call(name="", computer={"action": action, **more}, id=f"c{at}") for at, action in enumerate(actions)
            ]
        case "computer_toolset_20260801":
            calls = [member(action, at, toolset="computer") for at, action in enumerate(actions)]
        case "computer_20251124" | "computer_20250124":
            calls = [member(action, at) for at, action in enumerate(actions)]
        case _:
            given = json.dumps({"action": "click", "x": 3, "y": 4})
            calls = [Call(name="desktop_mouse", arguments=given, id=f"c{at}") for at, _ in enumerate(actions)]
    return Answer(thinking=["hm"], texts=("So.",), calls=calls)


def member(action: Json, at: int, toolset: str | None = None) -> Call:
    names = {"click": "left_click", "keypress": "key", "drag": "left_click_drag"}
    name = str(names.get(action["type"], action["type"]))
    fields: Json = {"coordinate": [action["x"], action["y"]]} if "x" in action else {}
    fields |= {"text": action["text"]} if "text" in action else {}
    if toolset is not None:
        return Call(name=name, arguments=json.dumps(fields), id=f"c{at}", toolset=toolset)
    return Call(name="computer", arguments=json.dumps({**fields, "action": name}), id=f"c{at}")


@dataclass(kw_only=True)
class Play:
    """One conversation with models of several providers."""

    server: ModelServer
    adapters: dict[str, Any]
    stage: Stage = field(default_factory=Stage)
    workers: Any = field(default_factory=count)
    shades: Any = field(default_factory=count)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    holds: bool = False
    started: list[str] = field(default_factory=list[str])
    session: SessionId = field(default=SessionId(""))

    def worker(self, model: str) -> Any:
        tools = HandlerBox()
        for name in ("desktop_screenshot", "desktop_windows"):
            tools.add(name, self._run, read_only=True)
        for name in ("desktop_mouse", "desktop_keyboard", "desktop_window"):
            tools.add(name, self._run)
        return worker_for(
            self.stage,
            self.adapters[model.split("-")[0]],
            tools,
            name=f"worker_{next(self.workers)}",
            info=ModelInfo(id=model, label=model, provider="test", vision=True),
            defaults=Options(enable_thinking=True),
            micro_compact_min_tokens=100,
        )

    async def _run(self, call: Any, arguments: Json, *_: Any) -> Done:
        self.started.append(call.name)
        if self.holds:
            self.holds = False
            self.held.set()
            await asyncio.Event().wait()
        if arguments.get("x") == 404:
            return Done(success=False, output="(404, 4) is outside of the screenshot.")
        body = png(shade=next(self.shades) % 256)
        return Done(success=True, output="The desktop.", body=body, body_media_type="image/png")

    async def say(self, model: str, *answers: Answer) -> str:
        """The status in which the run ends."""
        self.server.answer(*answers)
        async with working(self.worker(model)):
            return (await self.stage.until_finished(await self.stage.say(self.session, "go"))).status

    async def asked(self, model: str, answer: Answer, *then: str) -> None:
        """A call that is held back is decided so: all of it by one word, else its calls in their order."""
        self.server.answer(answer)
        async with working(self.worker(model)):
            run_id = await self.stage.say(self.session, "go")
            await until(lambda: self.stage.run(run_id).status in (RunStatus.WAITING, RunStatus.COMPLETED))
            if self.stage.run(run_id).status == RunStatus.WAITING:
                await self._decide(run_id, *then)
            await self.stage.until_finished(run_id)

    async def _decide(self, run_id: RunId, *then: str) -> None:
        if then == ("a message",):
            await self.stage.say(self.session, "no", interrupt=True)
        elif then == ("stop",):
            await self.stage.stop(self.session)
        else:
            (*_, requested) = self.stage.payloads(self.session, ApprovalRequested)
            calls = [[call.call_id] for call in requested.calls]
            for decision, call_ids in zip(then, calls if len(then) > 1 else [None], strict=False):
                answer = AnswerWait(MemoryWaits(self.stage.store), self.stage.stream, self.stage.notifier)
                said: Any = decision
                await answer(self.session, USER, requested.approval_id, Decision(decision=said, call_ids=call_ids))
        await self.stage.until_finished(run_id)

    async def cut(self, model: str, *, is_stop: bool) -> None:
        """A stop in the middle of a call, or a worker that died there."""
        self.server.answer(uses(model, CLICK, {"type": "screenshot"}))
        self.holds = True
        self.held.clear()
        async with working(self.worker(model)):
            run_id = await self.stage.say(self.session, "go")
            await self.held.wait()
            if is_stop:
                await self.stage.stop(self.session)
                await self.stage.until_finished(run_id)
                return
            self.stage.lapse(run_id)
            async with working(self.worker(model)):
                await self.stage.until_finished(run_id)

    async def compact(self, model: str) -> None:
        self.server.answer(Answer(texts=("In short.",)))
        async with working(self.worker(model)):
            await self.stage.until_finished(await self.stage.compact(self.session, "it"))

    def items(self, *types: str) -> list[Json]:
        """Of the last request to OpenAI."""
        return [item for item in self.server.requests[-1]["input"] if item["type"] in types]


@pytest.fixture
async def play(server: ModelServer) -> AsyncIterator[Play]:
    async with playing(server) as one:
        yield one
    assert server.refusals == []


class playing:  # noqa: N801 -- used as a context manager alone
    """A conversation with models that each know another computer tool."""

    def __init__(self, server: ModelServer) -> None:
        self._server, self._stack = server, AsyncExitStack()

    async def __aenter__(self) -> Play:
        def facts(name: str) -> ModelFacts:
            known: Any = COMPUTER[name]
            return ModelFacts(pictures=True, thinking_form="adaptive", computer_use=known)

        server = self._server
        adapters: dict[str, Any] = {
            "gpt": OpenAiResponsesModel(key="k", base_url=server.openai_url, facts=facts),
            "claude": AnthropicModel(key="k", base_url=server.url, facts=facts),
            "chat": OpenAiChatModel(key="k", base_url=server.openai_url),
        }
        for adapter in adapters.values():
            await self._stack.enter_async_context(aclosing(adapter))
        one = Play(server=server, adapters=adapters)
        one.session = await one.stage.open_session(title="named")
        return one

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


async def test_a_call_with_several_actions_is_several_calls_here_and_goes_back_as_one_with_the_last_picture(
    play: Play,
) -> None:
    actions = [CLICK, {"type": "type", "text": "hi"}, {"type": "wait"}]
    assert await play.say("gpt-new", uses("gpt-new", *actions)) == "completed"
    called = play.stage.payloads(play.session, ToolCalled)
    assert [(one.name, one.arguments) for one in called] == [
        ("desktop_mouse", {"action": "click", "x": 3, "y": 4, "button": "left"}),
        ("desktop_keyboard", {"action": "type", "text": "hi"}),
        ("desktop_screenshot", {"wait_s": 2}),
    ]
    assert {"type": "computer"} in play.server.requests[-1]["tools"]
    offered = [tool.get("name") for tool in play.server.requests[-1]["tools"]]
    assert "desktop_windows" in offered
    assert not {"desktop_screenshot", "desktop_mouse", "desktop_keyboard"} & {*offered}
    (call,), (answer,) = play.items("computer_call"), play.items("computer_call_output")
    assert (call["actions"], call["pending_safety_checks"]) == (actions, [])
    assert answer["call_id"] == call["call_id"] == called[0].call_id
    assert answer["output"]["detail"] == "original"
    assert "acknowledged_safety_checks" not in answer
    assert play.items("function_call") == []


async def test_the_older_tool_has_its_size_and_one_action_a_call(play: Play) -> None:
    assert await play.say("gpt-preview", uses("gpt-preview", CLICK, {"type": "screenshot"})) == "completed"
    body = play.server.requests[-1]
    wanted = {"type": "computer_use_preview", "display_width": 1280, "display_height": 800, "environment": "linux"}
    assert (wanted in body["tools"], body["truncation"]) == (True, "auto")
    assert [call["action"]["type"] for call in play.items("computer_call")] == ["click", "screenshot"]
    assert len(play.items("computer_call_output")) == 2


async def test_a_call_that_is_held_back_is_asked_for_whatever_the_session_allows_and_acknowledged_once_it_is_allowed(
    play: Play,
) -> None:
    await play.stage.sessions.change(play.session, USER, {"options": {"allowed_tools": ["desktop_*"]}})
    looks = {"actions": [{"type": "screenshot"}], "pending_safety_checks": CHECKS}
    for held in (HELD, looks):
        answer = Answer(texts=(), calls=[Call(name="", computer=held)])
        # To approve all ends asking for what the session wants to be asked for, and for nothing else.
        await play.asked("gpt-new", answer, "approve_all")
        (*_, requested) = play.stage.payloads(play.session, ApprovalRequested)
        assert len(requested.calls) == len(held["actions"])
        for call in requested.calls:
            assert [(one.code, one.message) for one in call.safety_checks] == [
                ("malicious_instructions", "The page asks for money.")
            ]
        assert play.items("computer_call")[-1]["pending_safety_checks"] == CHECKS
        assert play.items("computer_call_output")[-1]["acknowledged_safety_checks"] == CHECKS
    assert len(play.stage.payloads(play.session, ApprovalRequested)) == 2
    assert all(one.success for one in play.stage.payloads(play.session, ToolFinished))


@pytest.mark.parametrize("then", [("deny",), ("a message",), ("stop",), ("approve", "deny"), ("deny", "approve")])
async def test_what_is_not_allowed_is_acknowledged_by_nothing_and_the_model_reads_why(
    play: Play, then: tuple[str, ...]
) -> None:
    await play.asked("gpt-new", Answer(texts=(), calls=[Call(name="", computer=HELD)]), *then)
    assert await play.say("gpt-new") == "completed"
    assert play.items("computer_call", "computer_call_output") == []
    outputs = [item["output"] for item in play.items("function_call_output")]
    assert len(outputs) == 2
    assert any("Nothing was run" in output for output in map(str, outputs))


@pytest.mark.parametrize(
    ("action", "name"),
    [({"type": "fly", "x": 1, "y": 2}, "computer_call_fly"), ({"type": "click"}, "computer_call_click")],
)
async def test_an_action_that_is_not_known_is_told_to_the_model(play: Play, action: Json, name: str) -> None:
    assert await play.say("gpt-new", uses("gpt-new", CLICK, action)) == "completed"
    assert [item["name"] for item in play.items("function_call")] == ["desktop_mouse", name]
    assert f"There is no tool named '{name}'" in play.items("function_call_output")[1]["output"]


async def test_a_failed_action_is_told_in_words_and_none_after_it_is_run(play: Play) -> None:
    typed = {"type": "type", "text": "rm -r ."}
    for wrong in ({**CLICK, "x": 404}, {"type": "fly"}):
        play.started.clear()
        assert await play.say("gpt-new", uses("gpt-new", wrong, typed, {"type": "screenshot"})) == "completed"
        assert play.items("computer_call") == []
        first, *rest = [item["output"] for item in play.items("function_call_output")[-3:]]
        assert ("outside" in first) or ("no tool" in first)
        assert rest == ["Nothing was run: what was to be done before it was not done."] * 2
        assert play.started in (["desktop_mouse"], [])
    # What is asked for in the same answer, but not by the same call, is none of it.
    calls = [Call(name="", computer={"actions": [{**CLICK, "x": 404}]}), *uses("gpt-without", CLICK).calls]
    await play.say("gpt-new", Answer(texts=(), calls=calls))
    assert play.started[-2:] == ["desktop_mouse"] * 2


async def test_nobody_is_asked_for_what_comes_after_a_failed_action(play: Play) -> None:
    await play.stage.sessions.change(play.session, USER, {"options": {"asked_tools": ["desktop_keyboard"]}})
    answer = uses("gpt-new", {**CLICK, "x": 404}, {"type": "type", "text": "yes"})
    assert await play.say("gpt-new", answer) == "completed"
    assert play.stage.payloads(play.session, ApprovalRequested) == []


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_what_comes_after_an_action_that_is_asked_for_is_asked_for_with_it(play: Play, decision: str) -> None:
    await play.stage.sessions.change(play.session, USER, {"options": {"asked_tools": ["desktop_mouse"]}})
    typed, looks = {"type": "type", "text": "yes"}, {"type": "screenshot"}
    answer = uses("gpt-new", looks, CLICK, typed, looks)
    await play.asked("gpt-new", Answer(texts=(), calls=answer.calls), decision)
    (requested,) = play.stage.payloads(play.session, ApprovalRequested)
    asked = ["desktop_mouse", "desktop_keyboard", "desktop_screenshot"]
    assert [call.name for call in requested.calls] == asked
    assert play.started == ["desktop_screenshot", *(asked if decision == "approve" else [])]
    assert len(play.items("computer_call")) == (decision == "approve")


async def test_what_comes_after_an_action_that_is_denied_is_not_run_though_it_is_allowed(play: Play) -> None:
    await play.asked("gpt-new", Answer(texts=(), calls=[Call(name="", computer=HELD)]), "deny", "approve")
    assert play.started == []
    assert "before it was not done" in play.items("function_call_output")[1]["output"]


@pytest.mark.parametrize("checks", [[{"code": "no id"}], ["text"], "text", [{"id": str(n)} for n in range(9)]])
async def test_checks_that_nobody_could_read_are_no_call(play: Play, checks: Any) -> None:
    item = {"actions": [CLICK], "pending_safety_checks": checks}
    answers = [Answer(texts=(), calls=[Call(name="", computer=item)])] * 20
    assert await play.say("gpt-new", *answers) == "failed"
    assert play.stage.payloads(play.session, ToolCalled) == []


@pytest.mark.parametrize("model", [name for name in COMPUTER if COMPUTER[name] in BETAS])
async def test_anthropics_older_tool_is_named_in_the_header_and_gets_its_calls_back_as_it_made_them(
    play: Play, model: str
) -> None:
    kind = COMPUTER[model] or ""
    answer = uses(model, CLICK, {"type": "cursor_position"}, {"type": "fly"})
    assert await play.say(model, answer) == "completed"
    assert play.server.headers[-1]["anthropic-beta"] == BETAS[kind]
    body = play.server.requests[-1]
    (tool,) = [tool for tool in body["tools"] if tool.get("type") == kind]
    assert (tool["display_width_px"], tool["display_height_px"]) == (1280, 800)
    assert tool.get("enable_zoom") == (True if kind == "computer_20251124" else None)
    blocks = [block for message in body["messages"] for block in message["content"]]
    used = [(block["name"], json.dumps(block["input"])) for block in blocks if block["type"] == "tool_use"]
    assert used == [(call.name, call.arguments) for call in answer.calls]
    finished = play.stage.payloads(play.session, ToolFinished)
    assert sorted(one.success for one in finished) == [False, True, True]
    # Another model has no such header.
    await play.say("claude-without")
    assert "anthropic-beta" not in play.server.headers[-1]


async def test_a_tool_that_does_more_than_is_on_offer_is_not_declared(play: Play) -> None:
    await play.stage.sessions.change(play.session, USER, {"options": {"enable_plan_mode": True}})
    for model, kind in COMPUTER.items():
        await play.say(model)
        tools = [tool for tool in play.server.requests[-1]["tools"] if tool.get("type") not in ("function", None)]
        assert [tool["type"] for tool in tools] == ([kind] if kind == "computer_toolset_20260801" else [])


STEPS = (
    "use", "use much", "unknown", "failed", "approve", "deny", "a message", "stop", "half", "stop in a call",
    "worker dies", "compact",
)  # fmt: skip


async def step(play: Play, name: str, model: str) -> None:
    held = uses(model, CLICK, CLICK, pending_safety_checks=CHECKS)
    match name:
        case "use":
            await play.say(model, uses(model, CLICK))
        case "use much":
            await play.say(model, *(uses(model, {"type": "screenshot"}, CLICK) for _ in range(12)))
        case "unknown":
            await play.say(model, uses(model, CLICK, {"type": "fly"}))
        case "failed":
            await play.say(model, uses(model, {**CLICK, "x": 404}))
        case "half":
            await play.asked(model, held, "approve", "deny")
        case "approve" | "deny" | "a message" | "stop":
            await play.asked(model, held, name)
        case "compact":
            await play.say(model, uses(model, CLICK))
            await play.compact(model)
        case _:
            await play.cut(model, is_stop=name == "stop in a call")
    play.server.script.clear()


async def through(steps: list[tuple[str, str]]) -> None:
    async with ModelServer(SAID) as server, playing(server) as play, asyncio.timeout(60):
        for name, model in steps:
            await step(play, name, model)
        for model in COMPUTER:
            assert await play.say(model) == "completed"
        assert server.refusals == []


@pytest.mark.parametrize("model", [name for name, known in COMPUTER.items() if known])
@pytest.mark.parametrize("names", [STEPS[at : at + 3] for at in range(0, len(STEPS), 3)])
async def test_after_each_of_them_every_model_goes_on(names: tuple[str, ...], model: str) -> None:
    await through([("use", "chat-without"), *((name, model) for name in names), ("use", model)])


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from([*COMPUTER])), min_size=2, max_size=4))
def test_no_request_is_refused(steps: list[tuple[str, str]]) -> None:
    asyncio.run(through(steps))
