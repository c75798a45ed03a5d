"""A call that may not run never does, whoever goes on with the run and wherever its worker died."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from backend_api.agent.events import Event, ToolCalled
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.new_events import NewEvent
from backend_api.agent.tool import Done
from backend_api.conversations.domain.entity import Lease
from support.memory.run_ledger import MemoryRunLedger
from support.memory.store import MemoryStore
from support.scripted import HandlerBox, ScriptedModel
from support.stage import Stage, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]


def box() -> HandlerBox:
    tools = HandlerBox()

    async def run(*_: object) -> Done:
        return Done(success=True, output="done")

    tools.add("look_up", run, read_only=True)
    return tools


class Batches(MemoryRunLedger):
    """Remembers what was stored in one step."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.recorded: list[list[str]] = []

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        self.recorded.append([item.payload.type for item in items])
        return await super().record(lease, items, handled=handled)


async def test_a_call_that_was_denied_is_not_run_by_who_goes_on_with_the_run() -> None:
    stage, tools = Stage(), box()
    session = await stage.open_session(denied_tools=["look_up"])
    run_id = await stage.say(session, "go")
    lease = await stage.ledger.claim("dead", lease_s=-1, model="m")
    assert lease is not None
    called = ToolCalled(call_id="c", name="look_up", arguments={}, phrase="look", read_only=True, turn=1)
    await stage.ledger.record(lease, [NewEvent(payload=called)])
    model = ScriptedModel(SAID)
    async with working(worker_for(stage, model, tools)):
        assert (await stage.until_finished(run_id)).status == "completed"
    assert tools.started == []
    (result,) = [turn for turn in model.requests[0].turns if isinstance(turn, ToolTurn)]
    assert "switched look_up off" in result.output


@pytest.mark.parametrize(("name", "arguments"), [("look.up", {}), ("look_up", None)])
async def test_one_that_can_not_run_is_stored_with_its_result_in_one_step(
    name: str, arguments: dict[str, str] | None
) -> None:
    """Else a worker that dies between the two leaves a call like any other: of a name that is one by then, and with no
    arguments where they were cut."""
    store = MemoryStore()
    ledger = Batches(store)
    stage, tools = Stage(store, ledger=ledger), box()
    asked = ToolRequest(call_id="x", name=name, arguments=arguments, raw='{"a')
    model = ScriptedModel([ToolCallPart(asked), FinishPart("tool_calls")], SAID)
    async with working(worker_for(stage, model, tools)):
        session = await stage.open_session()
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    (batch,) = [batch for batch in ledger.recorded if "tool.called" in batch]
    assert "tool.finished" in batch
    assert tools.started == []
