"""Of model calls no more is kept than a user may have; beyond that they are told without what was sent and answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from backend_api.agent.events import LlmRequest, LlmResponse
from backend_api.agent.model import FinishPart, TextPart, UsagePart
from backend_api.agent.usage import Usage
from backend_api.conversations.application.event_json import dump
from backend_api.conversations.application.read_model_request import ReadModelRequest
from backend_api.conversations.domain.errors import EventBodyNotFoundError
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId, UserId
from support.acting import Tools, looking
from support.memory.model_call_quota import MemoryModelCallQuota
from support.scripted import Script, ScriptedModel
from support.stage import USER, Stage, worker_for, working

ANSWER: Script = [UsagePart(Usage(input=10, output=2)), TextPart("Done."), FinishPart("stop")]
MOST = 100_000


async def say(
    stage: Stage, session: SessionId, text: str, model_call_quota: Any = None, name: str = "worker_1"
) -> None:
    model_call_quota = model_call_quota or MemoryModelCallQuota(stage.store, most=MOST)
    async with working(
        worker_for(stage, ScriptedModel(ANSWER), Tools(looking()), model_call_quota=model_call_quota, name=name)
    ):
        await stage.until_finished(await stage.say(session, text))
    assert stage.said(session).endswith("Done.")


async def session_of(stage: Stage) -> SessionId:
    return await stage.open_session(title="named", enable_tracing=True)


async def filled(stage: Stage) -> SessionId:
    """Another session of the user, which keeps all that the user may have."""
    session = await session_of(stage)
    await MemoryModelCallQuota(stage.store).add(session, USER, MOST)
    return session


async def whole(stage: Stage, session: SessionId, number: int) -> dict[str, Any]:
    (seq,) = [
        event.seq
        for event in stage.events(session)
        if isinstance(event.payload, LlmRequest) and event.payload.number == number
    ]
    return json.loads(await ReadModelRequest(stage.sessions, stage.log)(session, USER, seq or 0))


def asked(stage: Stage, session: SessionId) -> list[LlmRequest]:
    return stage.payloads(session, LlmRequest)


async def test_beyond_the_limit_a_call_is_told_without_what_was_sent_and_answered() -> None:
    stage = Stage()
    await filled(stage)
    session = await session_of(stage)
    await say(stage, session, "look at it")
    (request,), (response,) = asked(stage, session), stage.payloads(session, LlmResponse)
    assert (request.omitted, request.payload, request.body, request.digest) == ("limit", None, None, "")
    assert (response.omitted, response.payload, response.body) == ("limit", None, None)
    assert (request.number, response.number, response.outcome, response.usage.input) == (1, 1, "stop", 10)
    with pytest.raises(EventBodyNotFoundError, match="not stored"):
        await whole(stage, session, 1)


async def test_what_is_kept_counts_whether_it_stands_in_its_event_or_beside_it() -> None:
    stage = Stage()
    session = await session_of(stage)
    await say(stage, session, f"look at it {'x' * 3_000}")
    await say(stage, session, "again")
    row = stage.store.sessions[session]
    beside = inside = 0
    for event in row.events:
        match event.payload:
            case LlmRequest(payload=None) | LlmResponse(payload=None):
                beside += len(row.bodies[event.seq or 0].content)
            case LlmRequest(payload=payload) | LlmResponse(payload=payload):
                inside += len(dump(payload))
            case _:
                pass
    assert beside > 3_000
    assert inside > 0
    assert row.model_call_quota == beside + inside


@pytest.mark.parametrize("is_another_worker", [False, True])
async def test_once_there_is_room_again_a_call_goes_on_from_what_is_kept_and_is_whole(is_another_worker: bool) -> None:
    stage = Stage()
    session = await session_of(stage)
    model, model_call_quota = ScriptedModel(*[ANSWER] * 3), MemoryModelCallQuota(stage.store, most=MOST)
    names = ["worker_1", "worker_2", "worker_3"] if is_another_worker else ["worker_1"] * 3
    workers = [
        worker_for(stage, model, Tools(looking()), model_call_quota=model_call_quota, name=name) for name in names
    ]
    workers = workers if is_another_worker else [workers[0]] * 3
    other = None
    for worker, text in zip(workers, ("one", "two", "three"), strict=True):
        if text == "two":
            other = await filled(stage)
        if text == "three":
            await stage.sessions.delete(other or session, USER)
        async with working(worker):
            await stage.until_finished(await stage.say(session, text))
    first, second, third = asked(stage, session)
    assert [one.omitted for one in (first, second, third)] == [None, "limit", None]
    assert (len(third.extends), third.turn_count) == (1, second.turn_count + 2)
    turns = (await whole(stage, session, 3))["turns"]
    assert [turn["text"] for turn in turns if turn["role"] != "note"] == ["one", "Done.", "two", "Done.", "three"]


class _Away:
    """`ModelCallQuota` that can't be reached."""

    async def has_room(self, user_id: UserId) -> bool:
        raise StoreUnavailableError("Away.")

    async def add(self, session_id: SessionId, user_id: UserId, size: int) -> None:
        raise StoreUnavailableError("Away.")


async def test_a_run_goes_on_where_nobody_can_say_whether_there_is_room() -> None:
    stage = Stage()
    session = await session_of(stage)
    await say(stage, session, "look at it", model_call_quota=_Away())
    assert asked(stage, session) == []
