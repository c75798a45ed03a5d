"""A session that wants it has each call of a model stored, whoever makes it, and is otherwise the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from backend_api.agent.capabilities.compaction import compaction
from backend_api.agent.capabilities.current_date import CURRENT_DATE
from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.events import (
    Event,
    LlmRequest,
    LlmResponse,
    ModelRetry,
    RunFinished,
    SubagentStarted,
    Usage,
)
from backend_api.agent.model import (
    FinishPart,
    ModelRequest,
    ModelUnavailableError,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolRequest,
    UsagePart,
    UserTurn,
)
from backend_api.agent.model_traces import TracedSoFar
from backend_api.agent.new_events import NewEvent
from backend_api.agent.threads import Threads
from backend_api.conversations.application.read_model_request import ReadModelRequest
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.errors import EventBodyNotFoundError
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId
from backend_api.kit.masking import Mask
from backend_api.runs.application.model_traces import ModelTraces
from support.acting import Acting, DiesAfter, Tools, hand_on, look_and_tell, looking
from support.memory.run_ledger import MemoryRunLedger
from support.memory.store import MemoryStore
from support.scripted import SCRIPTED, Script, ScriptedModel
from support.stage import USER, Stage, until, worker_for, working
from support.tables import having

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
USED = UsagePart(Usage(input=10, output=2))
LOOK: Script = [
    ThinkingPart("hm"),
    USED,
    ToolCallPart(ToolRequest(call_id="c", name="look", arguments={"what": "it"})),
    CALLS,
]
DONE: Script = [USED, TextPart("Done."), STOP]
BUSY = ModelUnavailableError("Busy, says key-of-provider.", may_retry=True)


async def played(
    model: Any, *messages: str, stage: Stage | None = None, is_on: bool = True, **worker: Any
) -> tuple[Stage, SessionId]:
    stage = stage or Stage()
    session = await stage.open_session(title="named", **({"enable_tracing": True} if is_on else {}))
    table = worker.pop("table", having(CURRENT_DATE))
    async with working(worker_for(stage, model, Tools(looking()), table=table, **worker)):
        for message in messages:
            await stage.until_finished(await stage.say(session, message))
    return stage, session


def requests(stage: Stage, session: SessionId) -> list[LlmRequest]:
    return stage.payloads(session, LlmRequest)


def responses(stage: Stage, session: SessionId) -> list[LlmResponse]:
    return stage.payloads(session, LlmResponse)


def seq_of(stage: Stage, session: SessionId, number: int) -> int:
    events = stage.events(session)
    (seq,) = [one.seq for one in events if isinstance(one.payload, LlmRequest) and one.payload.number == number]
    return seq or 0


async def whole(stage: Stage, session: SessionId, number: int) -> dict[str, Any]:
    read = ReadModelRequest(stage.sessions, stage.log)
    return json.loads(await read(session, USER, seq_of(stage, session, number)))


async def test_each_call_is_stored_as_asked_and_answered() -> None:
    stage, session = await played(ScriptedModel(LOOK, DONE), "look at it")
    asked, answered = requests(stage, session), responses(stage, session)
    assert [(one.number, one.role, one.model, one.provider) for one in asked] == [
        (1, "agent", "scripted", "test"),
        (2, "agent", "scripted", "test"),
    ]
    assert [(one.number, one.outcome, one.usage.input) for one in answered] == [(1, "tool_calls", 10), (2, "stop", 10)]
    (called,) = (answered[0].payload or {})["calls"]
    assert (called["name"], called["arguments"], (answered[0].payload or {})["thinking"]) == (
        "look",
        {"what": "it"},
        "hm",
    )
    assert all(one.first_ms is not None and one.duration_ms >= one.first_ms for one in answered)
    types = [event.payload.type for event in stage.events(session)]
    assert types[-1] == "run.finished", "an answer is stored before the end of its run"
    assert (await whole(stage, session, 2))["turns"][0] == {"role": "user", "text": "look at it", "attachments": []}
    with pytest.raises(EventBodyNotFoundError):
        await ReadModelRequest(stage.sessions, stage.log)(session, USER, 1)


async def test_a_session_that_does_not_want_it_has_none() -> None:
    stage, session = await played(ScriptedModel(LOOK, DONE), "look at it", is_on=False)
    assert not requests(stage, session)
    assert not responses(stage, session)


async def test_what_is_sent_said_and_folded_is_the_same_with_and_without() -> None:
    models, folded = [ScriptedModel(LOOK, DONE), ScriptedModel(LOOK, DONE)], list[Any]()
    for model, is_on in zip(models, (True, False), strict=True):
        stage, session = await played(model, "look at it", "and again", is_on=is_on)
        threads = Threads()
        for event in stage.events(session):
            threads.apply(event, stage.store.sessions[session].outputs.get(event.seq or 0))
        folded.append(threads.main.conversation("").turns)
    assert models[0].requests == models[1].requests
    assert folded[0] == folded[1]


async def test_requests_of_a_conversation_are_kept_once_also_by_the_next_worker() -> None:
    stage, session = await played(ScriptedModel(LOOK, LOOK, DONE), "look at it")
    async with working(worker_for(stage, ScriptedModel(DONE), Tools(looking()), name="worker_2")):
        await stage.until_finished(await stage.say(session, "and now?"))
    asked = requests(stage, session)
    assert [len(one.extends) for one in asked] == [0, 1, 2, 3]
    assert [one.number for one in asked] == [1, 2, 3, 4]
    counts = [one.turn_count for one in asked]
    for number, count in enumerate(counts, start=1):
        read = await whole(stage, session, number)
        assert (len(read["turns"]), "system" in read, "tools" in read) == (count, True, True)
    assert (await whole(stage, session, 4))["turns"][:6] == (await whole(stage, session, 3))["turns"]


async def test_a_long_one_stands_beside_its_event() -> None:
    stage, session = await played(ScriptedModel([USED, TextPart("long " * 1_000), STOP]), "look " * 1_000)
    (asked,), (answered,) = requests(stage, session), responses(stage, session)
    assert (asked.payload, answered.payload) == (None, None)
    assert asked.body is not None
    assert answered.body is not None
    bodies = stage.store.sessions[session].bodies
    assert {len(body.content) for body in bodies.values()} >= {asked.body.size, answered.body.size}
    assert (await whole(stage, session, 1))["turns"][0]["text"] == "look " * 1_000


async def test_of_one_that_is_too_long_to_be_put_together_turns_in_the_middle_are_left_out() -> None:
    looks: list[Script] = []
    for number in range(4):
        seen = ToolCallPart(ToolRequest(call_id="c", name="look", arguments={"what": str(number)}))
        looks.append([USED, TextPart(f"step {number} " * 400), seen, CALLS])
    stage, session = await played(ScriptedModel(*looks, DONE), "look at it")
    read = ReadModelRequest(stage.sessions, stage.log, most=5_000)
    cut = json.loads(await read(session, USER, seq_of(stage, session, 5)))
    assert (cut["is_cut"], "system" in cut) == (True, True)
    assert cut["turns"][0]["text"] == "look at it"
    assert cut["turns"][-1]["role"] == "tool"
    assert len(cut["turns"]) < len((await whole(stage, session, 5))["turns"])


async def test_others_are_answered_while_a_long_one_is_put_together() -> None:
    stage, session = await played(ScriptedModel([USED, TextPart("long " * 600_000), STOP], DONE), "look", "again")
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    answering = asyncio.create_task(others())
    for _ in range(5):  # of one alone, others may by chance get few turns
        await whole(stage, session, 2)
    answering.cancel()
    assert turns > 40, "where it is put together on the loop itself they are two each time"


async def test_calls_of_agents_below_and_of_summaries_are_stored_with_whose_and_what_they_are() -> None:
    stage, session = await played(Acting(hand_on("it"), look_and_tell), "go")
    (agent,) = [started.subagent_id for started in stage.payloads(session, SubagentStarted)]
    told = [(one.role, one.agent_id) for one in requests(stage, session)]
    assert sorted(told, key=str) == sorted([("agent", None), *[("subagent", agent)] * 3, ("agent", None)], key=str)
    assert {one.number for one in requests(stage, session)} == {one.number for one in responses(stage, session)}

    small = replace(SCRIPTED, context_window=1_000)
    full: Script = [UsagePart(Usage(input=800, output=10)), *LOOK[2:]]
    stage, session = await played(
        ScriptedModel(full, DONE, DONE), "look at it", info=small, table=having(compaction(threshold=0.7))
    )
    roles = [(one.role, len(one.extends)) for one in requests(stage, session)]
    assert roles == [("agent", 0), ("compact", 1), ("agent", 0)], "the summary is asked of what was sent before"


async def test_a_model_that_answers_instead_is_told_apart_and_attempts_stand_with_their_call() -> None:
    other = replace(SCRIPTED, id="other", label="Other", provider="elsewhere")
    roles = {"fallback": ResolvedModel(info=other, chat=ScriptedModel(DONE))}
    secrets = ["key-of-provider"]
    stage, session = await played(ScriptedModel([BUSY]), "look at it", roles=roles, secrets=secrets)
    assert [(one.role, one.model, one.provider) for one in requests(stage, session)] == [
        ("agent", "scripted", "test"),
        ("fallback", "other", "elsewhere"),
    ]
    told = [one.payload for one in stage.stream.published if isinstance(one.payload, ModelRetry)]
    assert [(one.code, one.attempt, one.most) for one in told] == [
        ("model_unavailable", attempt, 4) for attempt in (2, 3, 4)
    ]
    failed, answered = responses(stage, session)
    assert (failed.outcome, failed.code, failed.error) == ("error", "model_unavailable", "Busy, says [masked].")
    assert [attempt.code for attempt in failed.attempts] == ["model_unavailable"] * 3
    assert (failed.first_ms, answered.outcome) == (None, "stop")


async def test_no_secret_is_stored_of_what_was_asked_and_answered() -> None:
    secret = "tr0ub4dor-and-3"
    spilled = ToolCallPart(ToolRequest(call_id="c", name="look", arguments={"what": f"x {secret}"}))
    broken = ToolCallPart(ToolRequest(call_id="d", name="look", arguments=None, raw=f'{{"a": "{secret}'))
    said: Script = [ThinkingPart(secret), TextPart(f"It is {secret}"), spilled, broken, USED, CALLS]
    stage, session = await played(ScriptedModel(said, DONE), f"my key is {secret}", secrets=[secret])
    kept = [repr(one) for one in (*requests(stage, session), *responses(stage, session))]
    row = stage.store.sessions[session]
    traced = {event.seq for event in row.events if event.payload.type.startswith("llm.")}
    kept += [body.content.decode() for seq, body in row.bodies.items() if seq in traced]
    assert len(kept) >= 4
    assert not [one for one in kept if secret in one]
    assert any("[masked]" in one for one in kept)


async def test_one_that_is_stopped_has_its_response_with_what_came() -> None:
    stage, at_work = Stage(), asyncio.Event()

    async def hang() -> None:
        at_work.set()
        await asyncio.Event().wait()

    session = await stage.open_session(title="named", enable_tracing=True)
    async with working(worker_for(stage, ScriptedModel([TextPart("So far"), hang]))):
        run = await stage.say(session, "go")
        await asyncio.wait_for(at_work.wait(), 10)
        await stage.stop(session)
        assert (await stage.until_finished(run)).status == "stopped"
    (answered,) = responses(stage, session)
    assert (answered.outcome, (answered.payload or {})["text"]) == ("stopped", "So far")


async def test_one_that_is_redirected_has_its_response_and_the_next_a_number_of_its_own() -> None:
    stage, at_work = Stage(), asyncio.Event()

    async def hang() -> None:
        at_work.set()
        await asyncio.Event().wait()

    session = await stage.open_session(title="named", enable_tracing=True)
    async with working(worker_for(stage, ScriptedModel([TextPart("So far"), hang], DONE))):
        run = await stage.say(session, "go")
        await asyncio.wait_for(at_work.wait(), 10)
        await stage.say(session, "no, that", interrupt=True)
        await stage.until_finished(run)
    assert [(one.number, one.outcome) for one in responses(stage, session)] == [(1, "stopped"), (2, "stop")]


async def test_one_whose_worker_dies_has_none_and_the_next_worker_counts_on() -> None:
    store = MemoryStore()
    # session: message, queued, started, then the first request.
    ledger = DiesAfter(store, 4)
    stage = Stage(store, ledger=ledger)  # pyright: ignore[reportArgumentType] -- a ledger like any other
    session = await stage.open_session(title="named", enable_tracing=True)
    hang = asyncio.Event()
    async with working(worker_for(stage, ScriptedModel([hang.wait]), Tools(looking()))):
        run = await stage.say(session, "go")
        await asyncio.wait_for(ledger.has_died.wait(), 10)
        assert [one.number for one in requests(stage, session)] == [1]
        stage.lapse(run)
        async with working(worker_for(stage, ScriptedModel(DONE), Tools(looking()), name="worker_2")):
            await stage.until_finished(run)
    assert [one.number for one in requests(stage, session)] == [1, 2]
    assert [one.number for one in responses(stage, session)] == [2]


class _Refuses(MemoryRunLedger):
    """Stores anything but what is told of model calls."""

    def __init__(self, store: MemoryStore, error: Exception) -> None:
        super().__init__(store)
        self._error = error

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        if any(isinstance(item.payload, LlmRequest | LlmResponse) for item in items):
            raise self._error
        return await super().record(lease, items, handled=handled)


@pytest.mark.parametrize("error", [StoreUnavailableError("Away."), ValueError("a fault of ours")])
async def test_a_run_goes_on_where_its_calls_can_not_be_stored(error: Exception) -> None:
    store = MemoryStore()
    stage = Stage(store, ledger=_Refuses(store, error))  # pyright: ignore[reportArgumentType] -- a ledger like any other
    stage, session = await played(ScriptedModel(LOOK, DONE), "look at it", stage=stage)
    assert stage.said(session) == "Done."
    assert not requests(stage, session)


async def test_an_event_of_a_call_is_json_that_reads_back() -> None:
    stage, session = await played(ScriptedModel(LOOK, DONE), "look \ud800 at it")
    for one in requests(stage, session):
        assert json.loads(json.dumps(one.payload)) == one.payload
    await until(lambda: bool(responses(stage, session)))


class Kept:
    """`TraceStore` that folds nothing, as another process would have to."""

    def __init__(self) -> None:
        self.traced_so_far = TracedSoFar()
        self.asked: list[LlmRequest] = []

    async def record_trace(self, item: NewEvent) -> Event | None:
        if isinstance(item.payload, LlmRequest):
            self.asked.append(item.payload)
        return Event(payload=item.payload, seq=len(self.asked), session_id="s", at=datetime.now(UTC), run_id="r")


async def test_what_an_agent_was_sent_is_not_held_once_it_is_done() -> None:
    store = Kept()
    traces = ModelTraces(store, Mask(), is_on=True)
    agents = [traces.traced(ResolvedModel(info=SCRIPTED, chat=ScriptedModel(*[DONE] * 2)), "subagent", a) for a in "ab"]
    request = ModelRequest(model="m", system="", turns=[UserTurn(text="hi")], tools=[], max_output_tokens=1)
    delivering = asyncio.create_task(traces.deliver())
    for _ in range(2):
        for model in agents:
            async for _part in model.chat.stream(request):
                pass
        await traces.flush()
        traces.forget("a")
    delivering.cancel()
    assert [(one.agent_id, len(one.extends)) for one in store.asked] == [("a", 0), ("b", 0), ("a", 0), ("b", 1)]


def test_no_request_of_an_agent_below_is_known_after_its_run() -> None:
    traced, threads = (
        LlmRequest(number=1, role="subagent", model="m", provider="p", turn_count=1, digest="d"),
        Threads(),
    )
    told = [
        replace(traced, agent_id="agent_x"),
        replace(traced, role="agent"),
        RunFinished(run_id="r", status="stopped"),
    ]
    for seq, payload in enumerate(told, start=1):
        threads.apply(Event(payload=payload, seq=seq, session_id="s", at=datetime.now(UTC), run_id="r"))
    assert list(threads.traced.requests) == [None]
