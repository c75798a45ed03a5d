"""What a message and a turn cost in calls of functions of our own: the same on a busy machine, unlike a time."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import backend_api.agent.loop
from backend_api.agent.events import Usage
from backend_api.agent.model import FinishPart, Part, TextPart, ToolCallPart, ToolRequest, UsagePart
from backend_api.agent.tool import Done, ToolCall
from support.scripted import HandlerBox, OnOutput, ScriptedModel
from support.stage import Stage, worker_for, working

PACKAGE = Path(backend_api.agent.loop.__file__).parents[1]
OURS = tuple(map(str, (PACKAGE / "agent", *PACKAGE.glob("*/domain*"), *PACKAGE.glob("*/application*"))))
MOST_OF_A_MESSAGE = 610
MOST_OF_A_TURN = 550
"""Some tenth more than they cost, as what is shown in one go differs from run to run."""
TOOLS = 30
DELTAS = 20


@contextmanager
def counted() -> Generator[Counter[str]]:
    calls = Counter[str]()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            calls[frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        del calls["RunStatus.is_end"]  # how often the test looks whether it is over


def answer(number: int, *, calls: bool) -> Sequence[Part]:
    said: list[Part] = [*(TextPart(f"word{delta} ") for delta in range(DELTAS)), UsagePart(Usage(input=100, output=20))]
    if not calls:
        return [*said, FinishPart("stop")]
    arguments = {"number": number}
    return [
        *said,
        ToolCallPart(ToolRequest(call_id=f"c{number}", name="tool0", arguments=arguments)),
        FinishPart("tool_calls"),
    ]


async def calls_of_a_run(turns: int) -> Counter[str]:
    tools, stage = HandlerBox(), Stage()

    async def look(_: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        return Done(success=True, output=f"{arguments} ".ljust(2_000, "x"))

    for number in range(TOOLS):
        tools.add(f"tool{number}", look)
    said = [answer(number, calls=number < turns) for number in range(turns + 1)]
    model = ScriptedModel(answer(0, calls=False), *said)
    session_id = await stage.open_session(title="named")
    async with working(worker_for(stage, model, tools, poll_s=600, max_turns=1_000)):
        await stage.until_finished(await stage.say(session_id, "hello"))
        with counted() as calls:
            await stage.until_finished(await stage.say(session_id, "go on"))
    return calls


async def test_a_message_costs_no_more_calls_than_these() -> None:
    calls = min([await calls_of_a_run(0) for _ in range(5)], key=Counter.total)
    assert calls.total() <= MOST_OF_A_MESSAGE, calls.most_common(20)


async def test_a_turn_costs_no_more_calls_than_these() -> None:
    calls = (await calls_of_a_run(25)) - (await calls_of_a_run(15))
    assert calls.total() / 10 <= MOST_OF_A_TURN, calls.most_common(20)
