"""Runs assigned to workers in processes of their own, as those announced themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from backend_api.agent.events import MessageUser, RunQueued, RunStarted
from backend_api.agent.model import TextPart
from backend_api.conversations.application.announced_slots import LOOK_S, RemoteSlots
from backend_api.conversations.domain.assignments import ANNOUNCED_S, ASSIGNED_S, Assignment, FreeSlots
from backend_api.conversations.domain.entity import Accepted, Claimant, RunId
from backend_api.kit.background_tasks import background_task
from backend_api.kit.ids import SessionId
from backend_api.kit.notifier import Topic
from backend_api.runs.application.worker import Worker
from support.acting import STOP
from support.scripted import ScriptedModel
from support.stage import USER, Stage, until, worker_for, working


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Gateway:
    """What accepts messages for workers elsewhere."""

    stage: Stage
    slots: RemoteSlots
    clock: Clock = field(default_factory=Clock)

    async def announce(self, worker: str, count: int) -> None:
        await self.stage.notifier.notify(Topic.SLOTS_FREE, str(FreeSlots(count, worker)))
        await asyncio.sleep(0.01)

    def chosen(self, session: str = "s") -> str | None:
        slot = self.slots.reserve(SessionId(session))
        return slot.claimant.worker if slot is not None else None

    async def say(self, session: SessionId) -> Accepted:
        """As the use case does."""
        slot = self.slots.reserve(session)
        assert slot is not None
        message = MessageUser(message_id=f"m-{session}", text="hi")
        accepted = await self.stage.ledger.accept(session, USER, message, claimant=slot.claimant)
        await slot.begin_run(accepted)
        return accepted


@asynccontextmanager
async def gateway(stage: Stage | None = None) -> AsyncGenerator[Gateway]:
    stage, clock = stage or Stage(), Clock()
    slots = RemoteSlots(stage.notifier, stage.ledger, model="m", clock=clock)
    async with background_task(slots.listen(), "announced"):
        await asyncio.sleep(0)
        yield Gateway(stage, slots, clock)


def apart(stage: Stage, name: str = "worker_1", *, slots: int = 50, turns: Sequence[str] = ("Yes.",)) -> Worker:
    model = ScriptedModel(*([TextPart(text), STOP] for text in turns))
    return worker_for(stage, model, name=name, slots=slots, poll_s=30, announces=True)


async def announced(here: Gateway) -> None:
    await until(lambda: here.slots.reserve(SessionId("s")) is not None)


@pytest.mark.parametrize("told", ["", "5", "x w", "-1 w", "5 ", " w", "1e3 w"])
def test_what_announces_nothing_is_left_alone(told: str) -> None:
    assert FreeSlots.parse(told) is None


@pytest.mark.parametrize("told", ["", "s", "s r", "s r "])
def test_what_assigns_nothing_is_left_alone(told: str) -> None:
    assert Assignment.parse(told) is None


def test_both_read_what_they_tell() -> None:
    assert FreeSlots.parse(str(FreeSlots(7, "host-1"))) == FreeSlots(7, "host-1")
    one = Assignment(SessionId("s"), RunId("r"), "host-1")
    assert Assignment.parse(str(one)) == one


async def test_a_worker_with_room_is_chosen_the_same_one_for_a_session() -> None:
    async with gateway() as here:
        assert here.chosen() is None
        for name in ("one", "two", "three"):
            await here.announce(name, 50)
        assert len({here.chosen("same") for _ in range(5)}) == 1
        assert {here.chosen(f"s{number}") for number in range(30)} == {"one", "two", "three"}


async def test_one_with_less_than_half_as_much_room_as_another_is_spared() -> None:
    async with gateway() as here:
        await here.announce("full", 0)
        await here.announce("busy", 20)
        await here.announce("idle", 100)
        assert {here.chosen(f"s{number}") for number in range(20)} == {"idle"}


async def test_no_more_is_assigned_than_was_announced_and_what_is_given_back_counts() -> None:
    async with gateway() as here:
        await here.announce("one", 2)
        slot = here.slots.reserve(SessionId("s"))
        assert slot is not None
        assert here.chosen() == "one"
        assert here.chosen() is None
        slot.release()
        assert here.chosen() == "one"


async def test_a_worker_that_is_silent_is_forgotten() -> None:
    async with gateway() as here:
        await here.announce("one", 5)
        here.clock.now += ANNOUNCED_S + 0.1
        assert here.chosen() is None


async def test_an_assigned_run_is_answered_by_its_worker_without_a_claim() -> None:
    async with gateway() as here, working(apart(here.stage)):
        await announced(here)
        session = await here.stage.open_session("named")
        accepted = await here.say(session)
        assert (await here.stage.until_finished(accepted.run_id)).status == "completed"
    started = here.stage.payloads(session, RunStarted)
    assert [(one.worker, one.attempt) for one in started] == [("worker_1", 1)]


async def test_one_that_has_no_room_gives_the_run_back_and_another_has_it() -> None:
    async with gateway() as here, working(apart(here.stage, "full", slots=0)):
        session = await here.stage.open_session("named")
        async with working(apart(here.stage, "other")):
            await here.stage.notifier.waiting.wait()
            message = MessageUser(message_id="m", text="hi")
            claimant = Claimant(worker="full", lease_s=30, model="m", is_elsewhere=True)
            accepted = await here.stage.ledger.accept(session, USER, message, claimant=claimant)
            told = Assignment(session, accepted.run_id, "full")
            await here.stage.notifier.notify(Topic.RUN_ASSIGNED, str(told))
            assert (await here.stage.until_finished(accepted.run_id)).status == "completed"
    assert [one.worker for one in here.stage.payloads(session, RunStarted)] == ["full", "other"]
    assert here.stage.run(accepted.run_id).releases == 1


async def test_one_told_of_twice_is_run_once() -> None:
    async with gateway() as here, working(apart(here.stage)):
        await announced(here)
        session = await here.stage.open_session("named")
        accepted = await here.say(session)
        told = str(Assignment(session, accepted.run_id, "worker_1"))
        for _ in range(3):
            await asyncio.sleep(0)
            await here.stage.notifier.notify(Topic.RUN_ASSIGNED, told)
        await here.stage.until_finished(accepted.run_id)
    assert here.stage.said(session) == "Yes."


async def test_one_whose_worker_never_hears_of_it_is_taken_over_once_its_short_lease_lapses() -> None:
    async with gateway() as here:
        await here.announce("gone", 5)
        session = await here.stage.open_session("named")
        accepted = await here.say(session)
        lapses_at = here.stage.store.runs[accepted.run_id].expires_at
        assert lapses_at is not None
        assert (lapses_at - here.stage.run(accepted.run_id).created_at).total_seconds() <= ASSIGNED_S + 0.1
        here.stage.lapse(accepted.run_id)
        async with working(apart(here.stage, "other")):
            assert (await here.stage.until_finished(accepted.run_id)).status == "completed"
    assert [one.worker for one in here.stage.payloads(session, RunStarted)] == ["gone", "other"]


async def test_the_others_hear_of_one_that_was_not_confirmed_in_time() -> None:
    async with gateway() as here, working(apart(here.stage, "other")):
        await announced(here)
        await here.announce("gone", 500)
        session = await here.stage.open_session("named")
        accepted = await here.say(session)
        here.stage.lapse(accepted.run_id)
        here.clock.now += ASSIGNED_S
        assert (await here.stage.until_finished(accepted.run_id, within_s=10)).status == "completed"
    assert [one.worker for one in here.stage.payloads(session, RunStarted)] == ["gone", "other"]


async def test_nobody_hears_of_one_that_was_confirmed() -> None:
    async with gateway() as here, working(apart(here.stage)):
        await announced(here)
        session = await here.stage.open_session("named")
        accepted = await here.say(session)
        await here.stage.until_finished(accepted.run_id)
        async with here.stage.notifier.subscribe(Topic.RUN_QUEUED) as queued:
            here.clock.now += ASSIGNED_S
            assert await queued.next(4 * LOOK_S) is None


async def test_a_worker_that_drains_says_at_once_that_it_has_no_room() -> None:
    async with gateway() as here:
        worker = apart(here.stage)
        async with working(worker) as task:
            await announced(here)
            worker.drain()
            await asyncio.wait_for(task, 10)
        assert here.chosen() is None


async def test_a_stop_in_the_moment_of_the_assignment_ends_the_run() -> None:
    async with gateway() as here, working(apart(here.stage, turns=("Yes.",) * 10)):
        await announced(here)
        for _ in range(10):
            session = await here.stage.open_session("named")
            accepted = await here.say(session)
            await here.stage.stop(session)
            finished = await here.stage.until_finished(accepted.run_id)
            assert finished.status in ("stopped", "completed")
            assert len(here.stage.payloads(session, RunQueued)) == 1
