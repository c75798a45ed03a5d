"""What a turn costs by itself however long its session's log is: in lines of our own, the same on a busy machine."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import backend_api.agent.loop
from backend_api.agent.events import MessageCompleted, MessageUser, RunFinished, ToolCalled, ToolFinished, Usage
from backend_api.agent.model import FinishPart, TextPart, ToolCallPart, ToolRequest, UsagePart
from backend_api.agent.new_events import NewEvent
from backend_api.agent.tool import Done, ToolCall
from backend_api.conversations.domain.entity import Claimant
from backend_api.kit.ids import SessionId
from support.scripted import HandlerBox, OnOutput, Script, ScriptedModel
from support.stage import USER, Stage, worker_for, working

PACKAGE = Path(backend_api.agent.loop.__file__).parents[1]
OURS = tuple(map(str, (PACKAGE / "agent", *PACKAGE.glob("*/domain*"), *PACKAGE.glob("*/application*"))))
SHORT, LONG = 100, 10_000
FIRST, LAST = 2, 6
MOST = 1.3


class Lines:
    """The lines of ours that run between two moments, by function."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._before: Any = None

    def begin(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._count)

    def end(self) -> None:
        sys.settrace(self._before)
        del self.counts["RunStatus.is_end"]  # how often the test looks whether it is over

    def _count(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            self.counts[frame.f_code.co_qualname] += 1
        return self._count


async def fill(stage: Stage, session_id: SessionId, events: int, size: int) -> None:
    """A run of so many events: turns with a text, a call and its result."""
    message, claimant = MessageUser(message_id="m", text="begin"), Claimant(worker="w", lease_s=600, model="m")
    accepted = await stage.ledger.accept(session_id, USER, message, claimant=claimant)
    assert accepted.lease is not None
    run_id, items = accepted.run_id, list[NewEvent]()
    for turn in range(1, events // 3):
        called = ToolCalled(call_id=f"c{turn}", name="look", arguments={"before": turn}, phrase="Looking", turn=turn)
        items += [
            NewEvent(payload=MessageCompleted(message_id=f"a{turn}", text=f"{turn}", turn=turn)),
            NewEvent(payload=called),
            NewEvent(payload=ToolFinished(call_id=f"c{turn}", success=True, preview=f"seen {turn}".ljust(size))),
        ]
    await stage.ledger.record(accepted.lease, items)
    await stage.ledger.finish(accepted.lease, RunFinished(run_id=run_id, status="completed"), seen_seq=10**9)


def turn(number: int) -> Script:
    said = [TextPart("word "), UsagePart(Usage(input=100, output=20))]
    call = ToolRequest(call_id=f"n{number}", name="look", arguments={"number": number})
    return [*said, ToolCallPart(call), FinishPart("tool_calls")]


async def lines_of_turns(events: int, size: int) -> Counter[str]:
    """Those of the turns from the call `FIRST` to the call `LAST` of a run after so many events."""
    tools, stage, lines = HandlerBox(), Stage(), Lines()

    async def look(_: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        if arguments["number"] == FIRST:
            lines.begin()
        if arguments["number"] == LAST:
            lines.end()
        return Done(success=True, output=f"{arguments}")

    tools.add("look", look)
    session_id = await stage.open_session(title="named")
    await fill(stage, session_id, events, size)
    model = ScriptedModel(*map(turn, range(LAST + 2)), [TextPart("Done."), FinishPart("stop")])
    async with working(worker_for(stage, model, tools, poll_s=600, max_turns=1_000)):
        ended = await stage.until_finished(await stage.say(session_id, "go on"))
    assert ended.status == "completed"
    assert len(model.requests[-1].turns) > events // 3
    return lines.counts


@pytest.mark.parametrize("size", [50, 400], ids=["short results", "results that are left out by then"])
async def test_a_turn_at_event_10_000_costs_little_more_than_one_at_event_100(size: int) -> None:
    early, late = await lines_of_turns(SHORT, size), await lines_of_turns(LONG, size)
    assert early.total() > 1_000
    more = Counter({name: late[name] - early[name] for name in late})
    assert late.total() <= MOST * early.total(), more.most_common(20)
