"""A run's bounds are those of all of its agents together, also of those that ask at once and of other workers."""

from __future__ import annotations

import asyncio
from typing import Any

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import SubagentFinished, SubagentStarted, ToolFinished
from backend_api.agent.model import ToolTurn
from backend_api.runs.capabilities import capabilities
from support.acting import STOP, USED, Acting, DiesAfter, Tools, hand_on, look_and_tell, looking
from support.memory.store import MemoryStore
from support.stage import Stage, worker_for, working

TASKS = [f"task {number}" for number in range(20)]


async def test_answers_of_all_agents_count_and_the_last_one_is_the_main_ones() -> None:
    stage, model = Stage(), Acting(hand_on(*TASKS), look_and_tell)
    session = await stage.open_session(title="named", max_turns=10)
    async with working(worker_for(stage, model, Tools(looking()))):
        end = await stage.until_finished(await stage.say(session, "go"))
    assert end.status == "completed"
    assert len(model.requests) == 10
    told = [turn.output for turn in model.of(None)[-1].turns if isinstance(turn, ToolTurn)]
    assert len(told) == len(TASKS)
    assert "limit of 10 turns (max_turns)." in told[-1]
    assert "Send a message" not in "".join(told)
    assert len(stage.payloads(session, SubagentStarted)) == len(stage.payloads(session, SubagentFinished))


async def test_one_turn_is_none_for_another_agent() -> None:
    stage, model = Stage(), Acting(hand_on(*TASKS), look_and_tell)
    session = await stage.open_session(title="named", max_turns=1)
    async with working(worker_for(stage, model, Tools(looking()))):
        end = await stage.until_finished(await stage.say(session, "go"))
    assert (end.status, end.reason, len(model.requests)) == ("completed", "max_turns", 2)
    assert not stage.payloads(session, SubagentStarted) or "limit of 1 turn (max_turns)" in str(model.requests[1].turns)


async def test_tokens_that_answers_at_once_could_use_are_not_spent_twice() -> None:
    stage, model = Stage(), Acting(hand_on(*TASKS), look_and_tell)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Tools(looking()), max_tokens=50, max_output_tokens=20)):
        end = await stage.until_finished(await stage.say(session, "go"))
    assert end.status == "failed"
    assert "MAX_TOKEN_BUDGET" in (end.reason or "")
    assert (len(model.requests), end.usage.input + end.usage.output) == (5, 55)
    ended = [one for one in stage.payloads(session, ToolFinished) if one.agent_id is None]
    assert len(ended) == len(TASKS)
    assert "MAX_TOKEN_BUDGET" in ended[-1].preview


async def test_answers_are_asked_for_at_once_as_long_as_all_of_them_fit() -> None:
    both = asyncio.Barrier(2)

    def meeting(task: str, number: int) -> list[Any]:
        async def meet() -> None:
            async with asyncio.timeout(10):
                await both.wait()

        return [meet, *look_and_tell(task, 2)]

    stage, model = Stage(), Acting(hand_on("one", "two"), meeting)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Tools(looking()), max_tokens=10_000, max_output_tokens=200)):
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"


async def test_tokens_are_not_spent_twice_either_where_it_takes_a_moment_to_count_them() -> None:
    at_work: set[str] = set()
    most = 0

    async def count(setup: Setup, conversation: Conversation) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    def table(*sources: Any, **bounds: Any) -> list[Capability]:
        return [*capabilities(*sources, **bounds), Capability(name="counted beside", brake=count)]

    def answering(task: str, number: int) -> list[Any]:
        async def begin() -> None:
            nonlocal most
            at_work.add(task)
            most = max(most, len(at_work))
            for _ in range(50):
                await asyncio.sleep(0)
            at_work.discard(task)

        return [begin, USED, STOP]

    stage, model = Stage(), Acting(hand_on(*TASKS[:5]), answering)
    session = await stage.open_session(title="named")
    # Two answers have room beside each other, and three have not.
    async with working(
        worker_for(stage, model, Tools(looking()), table=table, max_tokens=5_500, max_output_tokens=1_000)
    ):
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert most == 2


async def test_one_whose_model_fails_holds_up_no_other() -> None:
    def failing(task: str, number: int) -> list[Any]:
        return [ValueError("odd")] if task == TASKS[0] else [USED, STOP]

    stage, model = Stage(), Acting(hand_on(*TASKS[:3]), failing)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Tools(looking()), max_tokens=1_000, max_output_tokens=900)):
        async with asyncio.timeout(10):
            end = await stage.until_finished(await stage.say(session, "go"))
    assert end.status in ("failed", "completed")


async def test_another_worker_counts_what_the_first_one_recorded() -> None:
    for number in range(8, 20, 3):
        store = MemoryStore()
        ledger = DiesAfter(store, number)
        stage, model = Stage(store, ledger=ledger), Acting(hand_on(*TASKS[:4]), look_and_tell)
        session = await stage.open_session(title="named", max_turns=7)
        async with working(worker_for(stage, model, Tools(looking()))):
            run = await stage.say(session, "go")
            async with asyncio.timeout(10):
                await ledger.has_died.wait()
            stage.lapse(run)
            async with working(worker_for(stage, model, Tools(looking()), name="worker_2")):
                end = await stage.until_finished(run)
        assert end.status == "completed"
        assert 10 < end.usage.input <= 70
