"""A run that asks: it waits without a worker, and goes on, on any one, with whatever ended the wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from backend_api.agent.capabilities.approval import approval
from backend_api.agent.capability import Setup, tools_of
from backend_api.agent.events import (
    Notice,
    QuestionAnswered,
    QuestionAsked,
    RunStarted,
    SessionUpdated,
    ToolFinished,
)
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn, UserTurn
from backend_api.agent.questions import Answers
from backend_api.agent.tool import Done, ToolCall
from backend_api.agent.tools.ask_user import ask_user
from backend_api.agent.tools.local import LocalTools
from backend_api.conversations.application.answer_wait import AnswerWait
from backend_api.conversations.domain.entity import RunId, RunStatus
from backend_api.conversations.domain.session_changes import Changed
from backend_api.kit import measures
from backend_api.kit.background_tasks import background_task
from backend_api.kit.ids import SessionId, UserId
from backend_api.runs.application.expire_waits import ExpireWaits
from backend_api.runs.capabilities import capabilities
from support.memory.run_waits import MemoryWaits
from support.memory.sessions import MemorySessionRepository
from support.scripted import HandlerBox, OnOutput, ScriptedModel, call_tool
from support.stage import USER, Stage, until, worker_for, working
from support.tables import having

SAID = [TextPart("Well."), FinishPart("stop")]


def asking(**question: Any) -> list[Any]:
    arguments = {"questions": [{"question": "Which colour?", **question}]}
    return [ToolCallPart(ToolRequest(call_id="x", name="ask_user", arguments=arguments)), FinishPart("tool_calls")]


async def ask(stage: Stage, model: ScriptedModel, *, expires_s: float = 60) -> tuple[SessionId, RunId]:
    async with working(worker_for(stage, model, LocalTools([ask_user(expires_s=expires_s)]), name="first")):
        session = await stage.open_session()
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
    return session, run_id


async def goes_on(stage: Stage, model: ScriptedModel, run_id: RunId) -> str:
    async with working(worker_for(stage, model, LocalTools([ask_user()]), name="second")):
        return (await stage.until_finished(run_id)).status


async def test_an_answer_goes_on_with_the_run_on_another_worker() -> None:
    stage, model = Stage(), ScriptedModel(asking(options=["red", "blue"]), SAID)
    session, run_id = await ask(stage, model)
    (asked,) = stage.payloads(session, QuestionAsked)
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    await answer(session, USER, asked.question_id, Answers({"q1": "red"}))
    assert await goes_on(stage, model, run_id) == "completed"
    (result,) = [turn for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert (result.success, result.output) == (True, "The person answered:\n\nWhich colour?\n> red")
    assert [one.attempt for one in stage.payloads(session, RunStarted)] == [1, 2]


class SlowToName(MemorySessionRepository):
    """Names a session only once its run waits."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.store)
        self.runs = stage.store.runs

    async def name(self, session_id: SessionId, user_id: UserId, title: str) -> Changed:
        await until(lambda: all(row.run.status == RunStatus.WAITING for row in self.runs.values()))
        return await super().name(session_id, user_id, title)


async def test_a_conversation_whose_run_waits_at_once_is_named_meanwhile() -> None:
    stage, model = Stage(), ScriptedModel(asking())
    stage.sessions = SlowToName(stage)
    async with working(worker_for(stage, model, LocalTools([ask_user()]))):
        session = await stage.open_session()
        await stage.say(session, "go")
        await until(lambda: any(isinstance(event.payload, SessionUpdated) for event in stage.stream.published))
    assert stage.store.sessions[session].session.title == "go"


async def test_ten_questions_in_a_row_are_ten_waits_and_no_failed_attempt() -> None:
    stage, model = Stage(), ScriptedModel(*[asking()] * 10, SAID)
    session = await stage.open_session()
    run_id = await stage.say(session, "go")
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    for number in range(10):
        # Each on a worker of its own, as after ten restarts.
        async with working(worker_for(stage, model, LocalTools([ask_user()]), name=f"worker_{number}")):
            await until(lambda asked=number: len(stage.payloads(session, QuestionAsked)) > asked)
        assert stage.run(run_id).status == RunStatus.WAITING
        await answer(session, USER, stage.payloads(session, QuestionAsked)[-1].question_id, Answers({"q1": "red"}))
    assert await goes_on(stage, model, run_id) == "completed"
    assert [one.by for one in stage.payloads(session, QuestionAnswered)] == ["user"] * 10


async def test_only_the_agent_that_the_person_talks_to_has_a_tool_that_asks() -> None:
    table = capabilities(LocalTools([ask_user()]))
    kinds = ["main", "general", "explore"]
    found = [await tools_of(table, Setup(now=lambda: datetime.now(UTC), kind=kind)) for kind in kinds]
    assert [[tool.spec.name for tool in tools] for tools in found] == [["ask_user"], [], []]


async def test_a_tool_that_asks_without_saying_that_it_does_is_named_and_the_run_goes_on() -> None:
    stage, model = Stage(), ScriptedModel(asking(), SAID)
    unmarked = replace(ask_user(), spec=replace(ask_user().spec, asks_person=False))
    async with working(worker_for(stage, model, LocalTools([unmarked]))):
        session = await stage.open_session()
        finished = await stage.until_finished(await stage.say(session, "go"))
    (result,) = stage.payloads(session, ToolFinished)
    assert (finished.status, result.success, "`asks_person`" in result.preview) == ("completed", False, True)
    assert not stage.payloads(session, QuestionAsked)


async def test_a_message_that_interrupts_is_read_after_the_question_nobody_answered() -> None:
    stage, model = Stage(), ScriptedModel(asking(), SAID)
    _, run_id = await ask(stage, model)
    assert await stage.say(stage.run(run_id).session_id, "never mind", interrupt=True) == run_id
    assert await goes_on(stage, model, run_id) == "completed"
    result, message = model.requests[-1].turns[-2:]
    assert isinstance(result, ToolTurn)
    assert "wrote a message instead" in result.output
    assert message == UserTurn(text="never mind")


@pytest.mark.parametrize("comes", ["before it waits", "while it waits", "before and while"])
async def test_any_other_message_leaves_it_waiting_and_is_read_after_the_answer(comes: str) -> None:
    stage = Stage()
    session = await stage.open_session()

    async def interject() -> None:
        await stage.say(session, "in blue")

    model = ScriptedModel([*([interject] if "before" in comes else []), *asking()], SAID)
    async with working(worker_for(stage, model, LocalTools([ask_user()]), name="first")):
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
        if "while" in comes:
            assert await stage.say(session, "or green") == run_id
    assert stage.run(run_id).status == RunStatus.WAITING
    assert not stage.payloads(session, QuestionAnswered)
    (asked,) = stage.payloads(session, QuestionAsked)
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    await answer(session, USER, asked.question_id, Answers({"q1": "red"}))
    assert await goes_on(stage, model, run_id) == "completed"
    assert len(model.requests) == 2
    said = [*(["in blue"] if "before" in comes else []), *(["or green"] if "while" in comes else [])]
    result, *messages = model.requests[-1].turns[-1 - len(said) :]
    assert isinstance(result, ToolTurn)
    assert "> red" in result.output
    assert messages == [UserTurn(text=text) for text in said]


@pytest.mark.parametrize("ends", ["deadline", "stop", "worker dies"])
async def test_a_message_to_a_run_that_waits_is_read_however_the_wait_ends(ends: str) -> None:
    stage, model = Stage(), ScriptedModel(asking(), SAID, SAID)
    session, run_id = await ask(stage, model, expires_s=-1 if ends == "deadline" else 60)
    await stage.say(session, "in blue")
    waits = MemoryWaits(stage.store)
    match ends:
        case "deadline":
            assert await waits.expire(run_id) is not None
        case "stop":
            await stage.stop(session)
            # What was said before a stop is stopped with it, and read with what is said next.
            run_id = await stage.say(session, "go on")
        case _:
            (asked,) = stage.payloads(session, QuestionAsked)
            await waits.answer(session, USER, asked.question_id, Answers({"q1": "red"}))
            assert await stage.ledger.claim("dead", lease_s=-1, model="m", run_id=run_id) is not None
    assert await goes_on(stage, model, run_id) == "completed"
    assert model.requests[1].turns.count(UserTurn(text="in blue")) == 1
    assert len(model.requests) == 2


async def test_a_deadline_goes_on_without_an_answer() -> None:
    stage, model = Stage(), ScriptedModel(asking(), SAID)
    session, run_id = await ask(stage, model, expires_s=-1)
    expiry = ExpireWaits(waits=MemoryWaits(stage.store), stream=stage.stream, notifier=stage.notifier)
    async with background_task(expiry.expire_until_cancelled(), "waits"):
        assert await goes_on(stage, model, run_id) == "completed"
    assert [one.by for one in stage.payloads(session, QuestionAnswered)] == ["timeout"]
    assert not stage.payloads(session, ToolFinished)[0].success


async def test_a_run_that_goes_on_after_a_wait_was_not_taken_over_and_one_whose_worker_is_gone_was() -> None:
    def taken_over() -> float:
        return measures.REGISTRY.get_sample_value("agent_run_takeovers_total") or 0.0

    stage, model, before = Stage(), ScriptedModel(asking(), SAID), taken_over()
    session, run_id = await ask(stage, model)
    await stage.say(session, "never mind", interrupt=True)
    assert await goes_on(stage, model, run_id) == "completed"
    assert taken_over() == before
    run_id = await stage.say(session, "and now?")
    assert await stage.ledger.claim("dead", lease_s=-1, model="m", run_id=run_id) is not None
    assert await goes_on(stage, model, run_id) == "completed"
    assert taken_over() == before + 1


async def test_that_another_model_answers_is_said_once() -> None:
    stage, model = Stage(), ScriptedModel(asking(), SAID)
    session = await stage.open_session()
    await stage.sessions.update(session, USER, {"model": "gone"})
    async with working(worker_for(stage, model, LocalTools([ask_user()]))):
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
        await stage.say(session, "never mind", interrupt=True)
        assert (await stage.until_finished(run_id)).status == "completed"
        await stage.until_finished(await stage.say(session, "more"))
    (notice,) = stage.payloads(session, Notice)
    assert "no model gone" in notice.text


async def test_a_stop_ends_a_run_that_waits() -> None:
    stage, model = Stage(), ScriptedModel(asking(), SAID)
    session, run_id = await ask(stage, model)
    await stage.stop(session)
    assert stage.run(run_id).status == RunStatus.STOPPED
    assert len(model.requests) == 1


@pytest.mark.parametrize("tool", ["asks", "is approved"])
async def test_a_stop_that_comes_before_the_wait_is_stored_is_told_as_one(tool: str) -> None:
    stage, box = Stage(), HandlerBox()
    box.add("write", never)
    session = await stage.open_session(enable_approval=True)

    async def stop() -> None:
        # Nobody is notified of it.
        await stage.ledger.request_stop(session, USER)

    called = ToolCallPart(ToolRequest(call_id="x", name="write", arguments={}))
    calls = asking() if tool == "asks" else [called, FinishPart("tool_calls")]
    tools = LocalTools([ask_user()]) if tool == "asks" else box
    model = ScriptedModel([stop, *calls], SAID)
    async with working(worker_for(stage, model, tools, table=having(approval(expires_s=300.0)))):
        run_id = await stage.say(session, "go")
        await until(lambda: stage.run(run_id).status.is_end)
    (result,) = stage.payloads(session, ToolFinished)
    assert result.preview.startswith("Stopped before it was")
    assert result.cancelled


async def never(context: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
    raise AssertionError


@pytest.mark.parametrize(
    ("questions", "fault"),
    [
        ([{"question": "Which?", "options": ["red"]}], "2 to 4 different options"),
        ([{"question": "Which?", "options": ["red", "red"]}], "2 to 4 different options"),
        ([{"question": "Which?", "options": ["a", "b", "c", "d", "e"]}], "at most 4"),
        ([{"question": "Which?", "id": "a b"}], "questions.0.id"),
        ([{"question": "Which?", "id": "q2"}, {"question": "What?"}], "id of its own"),
        ([{"question": ""}], "questions.0.question"),
        ([], "questions"),
    ],
)
async def test_questions_that_nobody_could_answer_are_told_to_the_model_and_not_asked(
    questions: list[dict[str, Any]], fault: str
) -> None:
    done = await call_tool(LocalTools([ask_user()]), "ask_user", {"questions": questions})
    assert not done.success
    assert fault in done.output


async def test_an_answer_is_given_by_the_id_that_the_model_gave_its_question() -> None:
    stage, model = Stage(), ScriptedModel(asking(id="colour", options=["red", "blue"], allow_text=False), SAID)
    session, run_id = await ask(stage, model)
    (asked,) = stage.payloads(session, QuestionAsked)
    assert [(one.id, one.text, one.allow_text) for one in asked.questions] == [("colour", "Which colour?", False)]
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    await answer(session, USER, asked.question_id, Answers({"colour": "red"}))
    assert await goes_on(stage, model, run_id) == "completed"


@pytest.mark.parametrize("times", [10])
async def test_a_run_may_ask_as_often_as_it_likes(times: int) -> None:
    stage, model = Stage(), ScriptedModel(*[asking() for _ in range(times)], SAID)
    answer = AnswerWait(MemoryWaits(stage.store), stage.stream, stage.notifier)
    session, run_id = await ask(stage, model)
    async with working(worker_for(stage, model, LocalTools([ask_user()]), name="second")):
        for number in range(times):
            await until(lambda: stage.run(run_id).status == RunStatus.WAITING)
            asked = stage.payloads(session, QuestionAsked)[number]
            await answer(session, USER, asked.question_id, Answers({"q1": "some"}))
        assert (await stage.until_finished(run_id)).status == "completed"
