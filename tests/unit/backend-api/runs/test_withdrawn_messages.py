"""A message that its person takes back before the agent reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from backend_api.agent.events import MessageUser, MessageWithdrawn
from backend_api.agent.model import TextPart, Turn, UserTurn
from backend_api.conversations.domain.entity import Lease
from support.acting import CALLS, STOP, call
from support.memory.store import MemoryStore
from support.scripted import ScriptedModel
from support.stage import Stage, WatchedLedger, until, worker_for, working


class OthersAreFirst(WatchedLedger):
    """Another process takes each message back, or does not, at the moment in which the worker takes it."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.taken: list[int] = []
        self.withdraws: set[str] = set()

    async def take_messages(self, lease: Lease, seq: int) -> int:
        await super().take_messages(lease, seq)
        self.taken.append(seq)
        row = self._store.sessions[lease.run.session_id]
        said = next(event for event in row.events if event.seq == seq)
        assert isinstance(said.payload, MessageUser)
        if said.payload.text not in self.withdraws:
            return 0
        gone = MessageWithdrawn(message_id=said.payload.message_id, at_seq=seq)
        row.session = replace(row.session, last_seq=row.session.last_seq + 1)
        row.events.append(replace(said, seq=row.session.last_seq, payload=gone))
        return row.session.last_seq


def said_by_the_person(turns: Sequence[Turn]) -> list[str]:
    return [turn.text for turn in turns if isinstance(turn, UserTurn)]


async def test_the_model_reads_no_message_that_was_taken_back_before_it_took_it() -> None:
    store = MemoryStore()
    ledger = OthersAreFirst(store)
    ledger.withdraws.add("no, wait")
    stage = Stage(store, ledger=ledger)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def pause() -> None:
        begun.set()
        await go_on.wait()

    model = ScriptedModel([pause, call("look"), CALLS], [TextPart("Done."), STOP])
    async with working(worker_for(stage, model)):
        session = await stage.open_session()
        run = await stage.say(session, "go")
        await begun.wait()
        await stage.say(session, "and hurry")
        await stage.say(session, "no, wait")
        go_on.set()
        finished = await stage.until_finished(run)
        await until(lambda: len(model.requests) == 2)
    assert finished.status == "completed"
    assert said_by_the_person(model.requests[1].turns) == ["go", "and hurry"]
    assert ledger.taken, "the messages were read without being taken"


async def test_a_run_with_one_message_takes_nothing() -> None:
    store = MemoryStore()
    ledger = OthersAreFirst(store)
    stage = Stage(store, ledger=ledger)
    async with working(worker_for(stage, ScriptedModel([TextPart("Hello."), STOP]))):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    assert ledger.taken == []
