"""What is said after a stop is answered, whatever became of the worker the stop was left for."""

from __future__ import annotations

import asyncio

from backend_api.agent.events import MessageUser, RunFinished
from backend_api.agent.model import FinishPart, TextPart, UserTurn
from backend_api.kit.notifier import Topic
from support.scripted import ScriptedModel
from support.stage import USER, Stage, until, worker_for, working

STOP = FinishPart("stop")


async def hold() -> None:
    await asyncio.Event().wait()


def asked(model: ScriptedModel) -> list[list[str]]:
    return [[turn.text for turn in request.turns if isinstance(turn, UserTurn)] for request in model.requests]


async def test_a_message_after_a_stop_left_for_a_dead_worker_gets_a_run_of_its_own() -> None:
    stage = Stage()
    session = await stage.open_session()
    run = await stage.say(session, "one")
    assert await stage.ledger.claim("dead", lease_s=30, model="m") is not None
    await stage.stop(session)
    assert await stage.say(session, "two") == run
    stage.lapse(run)
    model = ScriptedModel([TextPart("Two then."), STOP])
    async with working(worker_for(stage, model)):
        assert (await stage.until_finished(run)).status == "stopped"
        await until(lambda: len(stage.payloads(session, RunFinished)) == 2)
    assert [end.status for end in stage.payloads(session, RunFinished)] == ["stopped", "completed"]
    assert asked(model) == [["one", "two"]]
    assert stage.said(session) == "Two then."


async def test_a_message_after_a_stop_is_answered_also_where_the_stop_is_heard_after_the_model_read_it() -> None:
    stage = Stage()
    late = asyncio.Event()
    model = ScriptedModel([TextPart("One."), late.wait, STOP], [TextPart("Tw"), hold], [TextPart("Two."), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        run = await stage.say(session, "one")
        await stage.ledger.renewed.wait()
        # Nobody is notified of the stop for now.
        await stage.ledger.request_stop(session, USER)
        await stage.ledger.accept(session, USER, MessageUser(message_id="m", text="two"))
        late.set()
        await until(lambda: len(model.requests) == 2)
        await stage.notifier.notify(Topic.RUN_INBOX, run)
        assert (await stage.until_finished(run)).status == "stopped"
        await until(lambda: len(stage.payloads(session, RunFinished)) == 2)
    assert asked(model)[-1] == ["one", "two"]
    assert stage.said(session).endswith("Two.")


async def test_nothing_follows_a_stop_that_came_after_all_messages() -> None:
    stage = Stage()
    session = await stage.open_session()
    run = await stage.say(session, "one")
    assert await stage.ledger.claim("dead", lease_s=30, model="m") is not None
    await stage.say(session, "two")
    await stage.stop(session)
    stage.lapse(run)
    model = ScriptedModel([TextPart("Never."), STOP])
    async with working(worker_for(stage, model)):
        assert (await stage.until_finished(run)).status == "stopped"
    assert stage.store.sessions[session].session.active_run_id is None
    assert model.requests == []
