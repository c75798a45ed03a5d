"""After its first answer a session gets a title of a model's: once, beside the runs, and never in a person's way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.events import LlmRequest, LlmResponse, MessageCompleted, Notice, SessionUpdated, Usage
from backend_api.agent.model import (
    FinishPart,
    ModelAuthError,
    ModelUnavailableError,
    TextPart,
    ToolCallPart,
    ToolRequest,
    UsagePart,
    UserTurn,
)
from backend_api.agent.options import Options
from backend_api.agent.preset import NO_PRESET, Preset, Presets, PresetText
from backend_api.agent.prices import Prices
from backend_api.kit.ids import SessionId
from backend_api.kit.masking import Mask
from backend_api.models.wire.calls import ModelCalls, RetryPolicy
from backend_api.runs.application.session_traces import SessionTraces
from backend_api.runs.application.title_sessions import TitleSessions
from support.memory.model_call_quota import MemoryModelCallQuota
from support.memory.sessions import MemoryTranscripts
from support.memory.store import MemoryStore, utc_now
from support.memory.titles import MemoryTitles
from support.scripted import SCRIPTED, OneModel, Script, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

ANSWER: Script = [TextPart("Otters swim."), UsagePart(Usage(input=100, output=5)), FinishPart("stop")]
TITLE: Script = [TextPart("Otter facts"), UsagePart(Usage(input=50, output=3)), FinishPart("stop")]
PRICES = Prices(input=1, cache_read=1, cache_write=1, output=1)


@dataclass(frozen=True)
class Titled:
    """A worker at work, and what finds titles beside it."""

    stage: Stage
    answers: ScriptedModel
    titles: ScriptedModel
    sessions: TitleSessions

    async def first_exchange(self, text: str = "Tell me of otters") -> SessionId:
        session = await self.stage.open_session()
        await self.stage.until_finished(await self.stage.say(session, text))
        return session

    async def title(self, session: SessionId) -> str:
        return (await self.stage.sessions.get(session, USER)).title

    def is_settled(self, session: SessionId) -> bool:
        return self.stage.store.sessions[session].title_due is None

    def attempts(self, session: SessionId) -> int:
        due = self.stage.store.sessions[session].title_due
        return due.attempts if due is not None else 0


class TwoModels(OneModel):
    """Another one beside the default."""

    def choose(self, model_id: str | None) -> ResolvedModel:
        if model_id == "other":
            return ResolvedModel(info=replace(SCRIPTED, id="other"), chat=self.chat)
        return super().choose(model_id)


@asynccontextmanager
async def titled(
    *titles: Script,
    answers: ScriptedModel | None = None,
    has_role: bool = True,
    clock: Callable[[], Any] = utc_now,
    presets: Presets | None = None,
    model_call_quota_most: int = 0,
    **bounds: float,
) -> AsyncGenerator[Titled]:
    stage = Stage(MemoryStore(clock))
    answering, titling = answers or ScriptedModel(ANSWER), ScriptedModel(*titles)
    calls = ModelCalls(titling, "test", RetryPolicy(max_retries=0), prices=PRICES)
    role = ResolvedModel(info=replace(SCRIPTED, id="small"), chat=calls)
    worker = worker_for(stage, answering, info=replace(SCRIPTED, prices=PRICES))
    sessions = TitleSessions(
        titles=MemoryTitles(stage.store),
        transcripts=MemoryTranscripts(stage.store),
        stream=stage.stream,
        catalogue=TwoModels(
            chat=ModelCalls(answering, "test", RetryPolicy()), roles={"title": role} if has_role else {}
        ),
        histories=worker.services.histories,
        traces=SessionTraces(
            log=stage.log,
            stream=stage.stream,
            histories=worker.services.histories,
            mask=Mask(["Otter facts"]),
            model_call_quota=MemoryModelCallQuota(stage.store, most=model_call_quota_most),
        ),
        presets=presets or Presets(),
        poll_s=bounds.get("poll_s", 600.0),
        retry_s=bounds.get("retry_s", 300.0),
        deadline_s=bounds.get("deadline_s", 30.0),
    )
    worker.services = replace(worker.services, want_title=sessions.want)
    titling_task = asyncio.create_task(sessions.title_until_cancelled())
    async with working(worker):
        yield Titled(stage, answering, titling, sessions)
    titling_task.cancel()
    await asyncio.wait({titling_task}, timeout=5)


async def test_a_model_finds_a_title_from_the_first_exchange_once() -> None:
    async with titled(TITLE) as it:
        session = await it.first_exchange()
        await until(lambda: it.is_settled(session))
        assert await it.title(session) == "Otter facts"
        told = [SessionUpdated(title="Tell me of otters"), SessionUpdated(title="Otter facts")]
        assert it.stage.payloads(session, SessionUpdated) == told
        assert [one.payload for one in it.stage.stream.published if isinstance(one.payload, SessionUpdated)] == told
        (request,) = it.titles.requests
        (turn,) = request.turns
        assert isinstance(turn, UserTurn)
        assert "Tell me of otters" in turn.text
        assert "Otters swim." in turn.text
        assert (request.model, request.thinking, tuple(request.tools)) == ("small", "off", ())
        usage = await it.sessions.transcripts.usage(session)
        assert (usage.input, usage.output, usage.cost) == (150, 8, pytest.approx(158e-6))
        assert usage.by_model["small"]["input"] == 50
        await it.stage.until_finished(await it.stage.say(session, "More"))
        assert len(it.titles.requests) == 1


async def test_the_call_for_it_is_stored_where_the_session_wants_that_and_nobody_folds_it() -> None:
    async with titled(
        [ModelUnavailableError("Busy.")], [TextPart("x " * 2_000), *TITLE], retry_s=0.0, poll_s=0.01
    ) as it:
        session = await it.stage.open_session(enable_tracing=True)
        await it.stage.until_finished(await it.stage.say(session, "Tell me of otters"))
        await until(lambda: len(it.titles.requests) == 2 and it.is_settled(session))
        await it.stage.until_finished(await it.stage.say(session, "More"))
        asked = it.stage.payloads(session, LlmRequest)
        assert [(one.role, one.number) for one in asked] == [("agent", 1), ("title", 1), ("title", 2), ("agent", 2)]
        answered = [one for one in it.stage.payloads(session, LlmResponse) if one.role == "title"]
        assert [(one.number, one.outcome, one.body) for one in answered] == [(1, "error", None), (2, "stop", None)]
        assert "x [masked]" in (answered[1].payload or {})["text"]
        assert [one.payload for one in it.stage.stream.published if isinstance(one.payload, LlmRequest)] == asked
    async with titled(TITLE) as it:
        session = await it.first_exchange()
        await until(lambda: it.is_settled(session))
        assert it.stage.payloads(session, LlmRequest) == []


async def test_it_counts_toward_what_is_kept_of_calls_and_is_told_without_its_content_beyond() -> None:
    async with titled([ModelUnavailableError("Busy.")], TITLE, retry_s=0.0, poll_s=0.01, model_call_quota_most=1) as it:
        session = await it.stage.open_session(enable_tracing=True)
        await it.stage.until_finished(await it.stage.say(session, "Tell me of otters"))
        await until(lambda: it.is_settled(session))
        asked = [one for one in it.stage.payloads(session, LlmRequest) if one.role == "title"]
        assert [(one.number, one.omitted, one.payload is None) for one in asked] == [
            (1, None, False),
            (2, "limit", True),
        ]
        assert await it.title(session) == "Otter facts"


async def test_the_run_ends_and_the_next_one_goes_on_while_the_title_is_still_sought() -> None:
    holding, let_go = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        holding.set()
        await let_go.wait()

    async with titled([hold, *TITLE]) as it:
        session = await it.first_exchange()
        await holding.wait()
        await it.stage.until_finished(await it.stage.say(session, "More"))
        assert await it.title(session) == "Tell me of otters"
        let_go.set()
        await until(lambda: it.is_settled(session))
        assert await it.title(session) == "Otter facts"
        assert len(it.titles.requests) == 1


async def test_a_title_that_the_person_gives_while_one_is_sought_stays() -> None:
    async def rename() -> None:
        await it.stage.sessions.change(session, USER, {"title": "mine"})

    async with titled([rename, *TITLE]) as it:
        session = await it.stage.open_session()
        run = await it.stage.say(session, "Tell me of otters")
        await it.stage.until_finished(run)
        await until(lambda: len(it.titles.requests) == 1 and it.is_settled(session))
        await until(lambda: (it.stage.store.runs[run].usage or Usage()).input == 150)
        assert await it.title(session) == "mine"


@pytest.mark.parametrize(
    "said",
    [
        [FinishPart("stop")],
        [TextPart("x" * 61), FinishPart("stop")],
        [TextPart("Here it is:\nOtters"), FinishPart("stop")],
        [TextPart("I can't help with that."), FinishPart("stop")],
        [TextPart("Otter fac"), FinishPart("length")],
        [TextPart("Otters"), FinishPart("refusal")],
        [ToolCallPart(ToolRequest(call_id="c", name="x", arguments={})), FinishPart("tool_calls")],
    ],
    ids=["empty", "overlong", "several lines", "refusal in words", "cut", "refusal", "a call"],
)
async def test_what_is_no_title_leaves_the_first_line_and_says_nothing(said: Script) -> None:
    async with titled([UsagePart(Usage(input=50, output=3)), *said]) as it:
        session = await it.first_exchange()
        await until(lambda: it.is_settled(session))
        assert await it.title(session) == "Tell me of otters"
        assert it.stage.payloads(session, Notice) == []
        assert (await it.sessions.transcripts.usage(session)).input == 150
        assert len(it.titles.requests) == 1


@pytest.mark.parametrize("error", [ModelAuthError("no"), ModelUnavailableError("away", may_retry=True)])
async def test_a_model_that_fails_is_asked_again_later_and_not_for_ever(error: Exception) -> None:
    async with titled([error], [error], TITLE, poll_s=0.01, retry_s=0.0) as it:
        session = await it.first_exchange()
        await until(lambda: it.is_settled(session))
        assert await it.title(session) == "Otter facts"
    async with titled([error], poll_s=0.01, retry_s=0.0) as it:
        session = await it.first_exchange()
        await until(lambda: it.is_settled(session))
        assert (await it.title(session), len(it.titles.requests)) == ("Tell me of otters", 3)
        assert it.stage.payloads(session, Notice) == []
        usage = await it.sessions.transcripts.usage(session)
        assert (usage.input, usage.cost) == (100, pytest.approx(105e-6)), "a call that was refused costs nothing"


async def test_a_model_that_says_nothing_is_left_at_the_deadline_and_what_it_used_counts() -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async with titled([UsagePart(Usage(input=50)), hang], deadline_s=0.05) as it:
        session = await it.first_exchange()
        await until(lambda: it.attempts(session) == 1 and (it.stage.store.sessions[session].title_due is not None))
        run = next(iter(it.stage.store.runs.values()))
        await until(lambda: (run.usage or Usage()).input == 150)
        assert run.usage is not None
        assert (run.usage.cost, run.usage.known_cost) == (None, pytest.approx(105e-6))
        assert await it.title(session) == "Tell me of otters"


async def test_a_title_whose_worker_died_is_found_by_another_one() -> None:
    offset = timedelta()

    def clock() -> Any:
        return utc_now() + offset

    dying = asyncio.Event()

    async def die() -> None:
        dying.set()
        await asyncio.Event().wait()

    async with titled([die], clock=clock) as first:
        session = await first.first_exchange()
        await dying.wait()
    stage = first.stage
    second = replace(
        first.sessions,
        catalogue=OneModel(chat=ScriptedModel(TITLE)),
        wanted=asyncio.Queue(),
        poll_s=0.01,
    )
    looking = asyncio.create_task(second.title_until_cancelled())
    await asyncio.sleep(0.05)
    assert not first.is_settled(session), "as long as the other one may be at it"
    offset = timedelta(minutes=2)
    await until(lambda: first.is_settled(session))
    looking.cancel()
    assert (await stage.sessions.get(session, USER)).title == "Otter facts"
    assert len(stage.payloads(session, SessionUpdated)) == 2


async def test_a_run_without_an_answer_leaves_the_title_to_the_next_one() -> None:
    answers = ScriptedModel([ModelAuthError("no key")], ANSWER)
    async with titled(TITLE, answers=answers) as it:
        session = await it.first_exchange()
        await until(lambda: it.stage.store.sessions[session].title_due is not None)
        await until(lambda: (due := it.stage.store.sessions[session].title_due) is not None and due.next is None)
        assert it.titles.requests == []
        await it.stage.until_finished(await it.stage.say(session, "Again"))
        await until(lambda: it.is_settled(session))
        assert await it.title(session) == "Otter facts"


@pytest.mark.parametrize("chosen", [None, "scripted", "gone"])
async def test_without_a_model_of_its_own_that_of_the_conversation_is_asked(chosen: str | None) -> None:
    async with titled(answers=ScriptedModel(ANSWER, TITLE), has_role=False) as it:
        session = await it.stage.open_session()
        await it.stage.sessions.change(session, USER, {"model": chosen})
        await it.stage.until_finished(await it.stage.say(session, "Tell me of otters"))
        await until(lambda: it.is_settled(session))
        assert await it.title(session) == "Otter facts"
        assert it.answers.requests[-1].model == "scripted"


async def test_that_of_the_conversation_may_be_that_of_its_preset() -> None:
    text = PresetText(label="Own", description="With a model of its own")
    presets = Presets([NO_PRESET, Preset(id="own", text=text, options=Options(model="other"))])
    async with titled(answers=ScriptedModel(ANSWER, TITLE), has_role=False, presets=presets) as it:
        session = await it.stage.open_session()
        await it.stage.choose(session, "own")
        await it.stage.until_finished(await it.stage.say(session, "Tell me of otters"))
        await until(lambda: it.is_settled(session))
        assert it.answers.requests[-1].model == "other"
        assert set((await it.sessions.transcripts.usage(session)).by_model) == {"scripted", "other"}


async def test_the_message_after_a_title_need_not_read_the_log() -> None:
    async with titled(TITLE) as it:
        session = await it.first_exchange()
        await until(lambda: it.is_settled(session))
        await until(lambda: it.stage.events(session)[-1].payload == SessionUpdated(title="Otter facts"))
        history = it.sessions.histories.borrow(session)
        assert history.last_seq == len(it.stage.events(session))
        assert history.is_committed
        assert it.stage.payloads(session, MessageCompleted)
