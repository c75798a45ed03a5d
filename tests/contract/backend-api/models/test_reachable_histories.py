"""Whatever happens in a conversation, the next request is one that providers take, in each of their wire formats."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend_api.agent.approvals import Decision
from backend_api.agent.capabilities.approval import approval
from backend_api.agent.capabilities.compaction import compaction
from backend_api.agent.capability import Setup
from backend_api.agent.events import ApprovalRequested, PlanProposed, QuestionAsked
from backend_api.agent.model import ModelInfo
from backend_api.agent.options import Options
from backend_api.agent.plans import PlanDecision
from backend_api.agent.preset import Preset, Presets, PresetText
from backend_api.agent.questions import Answers
from backend_api.agent.tool import Done, Tool
from backend_api.agent.tools.ask_user import ask_user
from backend_api.agent.tools.plan_mode import plan_mode_tools
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunId, RunStatus
from backend_api.kit.ids import SessionId
from backend_api.runs.capabilities import APPROVAL_TIMEOUT_S, COMPACT_THRESHOLD
from support.adapters import FORMS, MODELS, adapter_of
from support.memory.run_waits import MemoryWaits
from support.model_seals import Form
from support.model_server import Answer, Call, ModelServer
from support.scripted import HandlerBox
from support.stage import USER, Stage, until, worker_for, working
from support.tables import having

LOOK, WRITE = Call(name="look", id="a"), Call(name="write", id="b")
SAID = ("Well,", " so", " it is.")
ANSWERS: dict[str, Answer] = {
    "answer": Answer(texts=SAID),
    "think": Answer(thinking=["hm"], texts=SAID),
    "redacted": Answer(redacted=True, texts=SAID),
    "call": Answer(texts=(), calls=[LOOK]),
    "think and call": Answer(thinking=["hm", " so"], texts=("I look.",), calls=[LOOK, Call(name="look", id="c")]),
    "redacted call": Answer(redacted=True, texts=(), calls=[LOOK]),
    "cut": Answer(thinking=["hm"], texts=SAID, finish="length"),
    "cut in arguments": Answer(texts=(), calls=[Call(name="look", arguments='{"wh')], finish="length"),
    "nothing": Answer(texts=()),
    "blank": Answer(texts=(" ", "\n")),
    "only thinking": Answer(thinking=["hm"], texts=()),
    "long name": Answer(texts=(), calls=[Call(name="look" * 30), Call(name="böse name", id="c")]),
    "one id twice": Answer(texts=(), calls=[LOOK, LOOK]),
    "no id": Answer(texts=(), calls=[Call(name="look", id="")]),
    "no JSON": Answer(thinking=["hm"], texts=(), calls=[Call(name="look", arguments="where: there")]),
    "a list": Answer(texts=(), calls=[Call(name="look", arguments="[1]")]),
    "no reason": Answer(texts=SAID, finish=""),
    "refused": Answer(texts=("I can't.",), finish="refusal"),
    "a fault": Answer(texts=("Half",), fault={"type": "server_error", "code": "server_error", "message": "oops"}),
    "lost": Answer(texts=SAID, cut_after=4),
}
PRESETS = Presets(
    [
        Preset(id="whole", text=PresetText(label="Whole", description="")),
        Preset(
            id="part",
            text=PresetText(label="Part", description=""),
            prompt="Look.",
            tools=frozenset({"look", "write", "enter_plan_mode", "ask_user"}),
            options=Options(enable_thinking=False),
        ),
    ],
    default="whole",
)
CHOICES: dict[str, str | None] = {"another preset": "part", "a preset that is gone": "gone", "no preset": None}
LONG = Answer(thinking=["hm"], texts=SAID, calls=[LOOK])
ENDINGS = ("stop", "redirect", "taken over", "taken over in a call")
DECISIONS = ("approve", "deny", "deny by a message", "approve after a message", "stop after a message")
PLAN, ASK = '{"plan": "1. Dig"}', '{"questions": [{"id": "q", "question": "Where?"}]}'
PERSONS: dict[str, tuple[list[Answer], Any]] = {
    "a plan is approved": (
        [
            Answer(thinking=["hm"], texts=("I plan.",), calls=[Call(name="enter_plan_mode")]),
            Answer(thinking=["hm"], texts=(), calls=[LOOK, Call(name="exit_plan_mode", arguments=PLAN, id="d")]),
            Answer(thinking=["hm"], texts=("I dig.",), calls=[LOOK]),
        ],
        PlanDecision(decision="approve"),
    ),
    "a question is answered": (
        [Answer(thinking=["hm"], texts=("I ask.",), calls=[LOOK, Call(name="ask_user", arguments=ASK, id="d")])],
        Answers({"q": "There."}),
    ),
}
"""What the model says until the run waits and after it, and what the person says then."""
SUMMARIES: dict[str, Answer] = {
    "summed up": Answer(thinking=["hm"], texts=("In short.",)),
    "not summed up": Answer(texts=("I look.",), calls=[LOOK]),
}


class Box(HandlerBox):
    """With the tools by which a person is asked for a plan or an answer."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        return [*await super().tools(setup), *plan_mode_tools(), ask_user()]


@dataclass(kw_only=True)
class Play:
    """One conversation with the strict server."""

    form: Form
    server: ModelServer
    chat: Any
    thinking: bool
    stage: Stage = field(default_factory=Stage)
    model: int = 0
    workers: int = 0
    held: asyncio.Event = field(default_factory=asyncio.Event)
    holds: bool = False

    def worker(self, *, is_other: bool = False) -> Any:
        self.model ^= is_other
        self.workers += 1
        name = MODELS[self.form][self.model]
        tools = Box()
        tools.add("look", self._run, read_only=True)
        tools.add("write", self._run)
        tools.add("other", self._run)
        return worker_for(
            self.stage,
            self.chat,
            tools,
            name=f"worker_{self.workers}",
            info=ModelInfo(id=name, label=name, provider=self.form),
            defaults=Options(enable_thinking=self.thinking, enable_approval=True),
            presets=PRESETS,
            table=having(approval(expires_s=APPROVAL_TIMEOUT_S), compaction(threshold=COMPACT_THRESHOLD)),
            micro_compact_min_tokens=100,
        )

    async def _run(self, *_: Any) -> Done:
        if self.holds:
            self.holds = False
            self.held.set()
            await asyncio.Event().wait()
        return Done(success=True, output="seen " * 50)

    async def step(self, session: SessionId, name: str, frames: int, *, is_other: bool) -> None:
        self.server.silent.clear()
        self.held.clear()
        async with working(self.worker(is_other=is_other)):
            if name in ANSWERS:
                self.server.answer(ANSWERS[name])
                await self.stage.until_finished(await self.stage.say(session, name))
            elif name in CHOICES:
                await self.stage.choose(session, CHOICES[name])
                self.server.answer(ANSWERS["think and call"])
                await self.stage.until_finished(await self.stage.say(session, name))
            elif name in SUMMARIES:
                await self.stage.until_finished(await self.stage.say(session, name))
                self.server.answer(SUMMARIES[name])
                await self.stage.until_finished(await self.stage.compact(session, "it"))
            elif name in ("stop", "redirect", "taken over"):
                self.server.answer(Answer(**_fields(LONG), hang_after=frames))
                run_id = await self.stage.say(session, name)
                await self.server.silent.wait()
                await self._end(session, name, run_id)
            elif name == "taken over in a call":
                self.server.answer(Answer(texts=(), calls=[LOOK]))
                self.holds = True
                run_id = await self.stage.say(session, name)
                await self.held.wait()
                await self._end(session, name, run_id)
            elif name in PERSONS:
                answers, said = PERSONS[name]
                self.server.answer(*answers)
                run_id = await self.stage.say(session, name)
                await until(lambda: self.stage.run(run_id).status == RunStatus.WAITING)
                (*_, asked) = self.stage.payloads(session, PlanProposed | QuestionAsked)
                wait_id = asked.plan_id if isinstance(asked, PlanProposed) else asked.question_id
                await self._answer(session, wait_id, said)
                await self.stage.until_finished(run_id)
            else:
                self.server.answer(Answer(thinking=["hm"], texts=("I write.",), calls=[LOOK, WRITE]))
                run_id = await self.stage.say(session, name)
                await until(lambda: self.stage.run(run_id).status == RunStatus.WAITING)
                await self._decide(session, name, run_id)

    async def _end(self, session: SessionId, name: str, run_id: RunId) -> None:
        match name:
            case "stop":
                await self.stage.stop(session)
            case "redirect":
                await self.stage.say(session, "no, this", interrupt=True)
            case _:
                self.stage.lapse(run_id)
                async with working(self.worker()):
                    await self.stage.until_finished(run_id)
        await self.stage.until_finished(run_id)

    async def _decide(self, session: SessionId, name: str, run_id: RunId) -> None:
        if name.endswith("a message"):
            await self.stage.say(session, "and this", interrupt=name == "deny by a message")
        if name == "stop after a message":
            await self.stage.stop(session)
        elif name != "deny by a message":
            (*_, requested) = self.stage.payloads(session, ApprovalRequested)
            decision = Decision(decision="deny" if name == "deny" else "approve", feedback="Not so.")
            await self._answer(session, requested.approval_id, decision)
        await self.stage.until_finished(run_id)

    async def _answer(self, session: SessionId, wait_id: str, said: Any) -> None:
        answer = AnswerWait(MemoryWaits(self.stage.store), self.stage.stream, self.stage.notifier)
        await answer(session, USER, wait_id, said)


def _fields(answer: Answer) -> dict[str, Any]:
    return {"thinking": answer.thinking, "texts": answer.texts, "calls": answer.calls}


STEP_NAMES = [*ANSWERS, *ENDINGS, *DECISIONS, *PERSONS, *SUMMARIES, *CHOICES]
STEPS = st.lists(
    st.tuples(st.sampled_from(STEP_NAMES), st.integers(1, 6), st.booleans()),
    min_size=1,
    max_size=5,
)


async def play(form: Form, steps: list[tuple[str, int, bool]], *, thinking: bool) -> None:
    async with ModelServer() as server:
        chat = adapter_of(form, server.url)
        try:
            game = Play(form=form, server=server, chat=chat, thinking=thinking)
            session = await game.stage.open_session(title="named")
            async with asyncio.timeout(60):
                for name, frames, is_other in steps:
                    await game.step(session, name, frames, is_other=is_other)
                    server.script.clear()
                async with working(game.worker()):
                    end = await game.stage.until_finished(await game.stage.say(session, "and now?"))
            assert server.refusals == []
            assert (end.status, end.reason) == ("completed", None)
        finally:
            with suppress(TimeoutError):
                await chat.aclose()


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25, deadline=None)
@given(steps=STEPS, thinking=st.booleans())
def test_no_request_is_refused(form: Form, steps: list[tuple[str, int, bool]], thinking: bool) -> None:
    asyncio.run(play(form, steps, thinking=thinking))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", [STEP_NAMES[at : at + 4] for at in range(0, len(STEP_NAMES), 4)])
async def test_after_each_of_them_the_next_request_is_taken(form: Form, names: list[str]) -> None:
    await play(form, [("think and call", 1, False), *((name, 4, False) for name in names)], thinking=True)
