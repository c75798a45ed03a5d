"""Whatever is changed, answered again or undone: what was shown once can be shown again, and is the same."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend_api.agent.events import (
    BackgroundFinished,
    BackgroundStarted,
    ContextCompacted,
    Event,
    MessageCompleted,
    MessageUser,
    PathSelected,
    RunFinished,
    RunQueued,
    RunStarted,
    SessionUpdated,
    StoredPayload,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.path import Path, path_after
from backend_api.agent.shown_order import ShownOrder, mark_of
from backend_api.branches.domain import LoggedMessage, Tree
from backend_api.conversations.domain.entity import Session, SessionStatus
from backend_api.kit.ids import SessionId, UserId
from backend_api.runs.application.histories import History
from support.memory.sessions import MemoryEventLog, MemoryTranscripts
from support.memory.store import MemoryStore, SessionRow

AT = datetime(2026, 1, 1, tzinfo=UTC)
ID = SessionId("s")


def new_row() -> tuple[MemoryStore, SessionRow]:
    store = MemoryStore(lambda: AT)
    fields: dict[str, Any] = {"created_at": AT, "updated_at": AT, "active_at": AT}
    session = Session(id=ID, user_id=UserId("u"), title="", status=SessionStatus.IDLE, model=None, **fields)
    store.sessions[ID] = row = SessionRow(session=session)
    return store, row


@dataclass
class Talk:
    """A conversation in memory, on which a person does what the page offers."""

    store: MemoryStore
    row: SessionRow
    deleted: set[int] = field(default_factory=set[int])
    runs: int = 0

    def tree(self) -> Tree:
        events = self.row.events
        said = [one for one in events if isinstance(one.payload, MessageUser | MessageCompleted)]
        order = ShownOrder()
        for mark in filter(None, map(mark_of, events)):
            order.apply(mark)
        return Tree(
            paths=[path_after(one) for one in events if isinstance(one.payload, PathSelected)],
            said=[
                LoggedMessage(
                    one.seq or 0, isinstance(one.payload, MessageUser), after=order.after.get(one.seq or 0, 0)
                )
                for one in said
            ],
            deleted=frozenset(self.deleted),
            last_seq=len(events),
        )

    def add(self, *payloads: StoredPayload, run_id: str | None = None) -> list[Event]:
        return self.store.store(self.row, run_id, payloads)

    def say(self) -> None:
        self.add(MessageUser(message_id=f"m{len(self.row.events)}", text=f"said at {len(self.row.events)}"))
        self.answer()

    def answer(self, *, compacts: bool = False) -> None:
        self.runs += 1
        run, now = f"r{self.runs}", len(self.row.events)
        self.add(RunQueued(run_id=run, message_id=None), run_id=run)
        self.add(RunStarted(run_id=run, message_id=None, model="m", worker="w"), run_id=run)
        called = ToolCalled(call_id=f"c{now}", name="look", arguments={}, phrase="", turn=1, seen_seq=now)
        self.add(called, ToolFinished(call_id=f"c{now}", success=True, preview=f"result {now}"), run_id=run)
        if compacts:
            compacted = ContextCompacted(kind="auto", before=9, after=1, through_seq=now, summary=f"until {now}")
            self.add(compacted, run_id=run)
        self.add(BackgroundStarted(background_id=f"b{now}", command="sleep", timeout_s=9, call_id=""), run_id=run)
        answer = MessageCompleted(message_id=f"a{now}", text=f"answer {now}", turn=2, seen_seq=now)
        self.add(answer, RunFinished(run_id=run, status="completed"), run_id=run)

    def interrupt(self, *, stops: bool = False, more: int = 0) -> None:
        """Messages sent while the agent writes: it is cut, and answers them, in the same run or in one of its own."""
        self.runs += 1
        run = f"r{self.runs}"
        first = self.add(MessageUser(message_id=f"m{len(self.row.events)}", text="first"))[0].seq or 0
        self.add(RunStarted(run_id=run, message_id=None, model="m", worker="w"), run_id=run)
        self.add(ToolCalled(call_id=run, name="look", arguments={}, phrase="", turn=1, seen_seq=first), run_id=run)
        for _ in range(1 + more):
            self.add(MessageUser(message_id=f"m{len(self.row.events)}", text=f"meanwhile {len(self.row.events)}"))
        now = len(self.row.events)
        self.add(ToolFinished(call_id=run, success=True, preview=f"result {now}"), run_id=run)
        cut = MessageCompleted(message_id=f"p{now}", text=f"cut {now}", turn=2, seen_seq=first, partial=True)
        self.add(cut, run_id=run)
        if stops:
            self.add(RunFinished(run_id=run, status="stopped"), run_id=run)
            self.answer()
        else:
            answer = MessageCompleted(message_id=f"a{now}", text=f"answer {now}", turn=3, seen_seq=now)
            self.add(answer, RunFinished(run_id=run, status="completed"), run_id=run)

    def select(self, path: list[list[int]]) -> None:
        self.add(PathSelected(path=path, cause="select", message_id="x"))

    def do(self, action: str, at: int) -> None:
        tree = self.tree()
        said = [one for one in tree.said if tree.has_message(one.seq)]
        users = [one.seq for one in said if one.is_user]
        if action == "say" or not users:
            self.say()
        elif action == "compact":
            self.say()
            self.answer(compacts=True)
        elif action == "interrupt":
            self.interrupt(stops=at % 2 == 0, more=at % 3)
        elif action == "edit":
            self.select(tree.before(users[at % len(users)]))
            self.say()
        elif action == "again":
            self.select(tree.until(tree.question_of(said[at % len(said)].seq)))
            self.answer()
        elif action == "undo":
            self.select(tree.before(users[at % len(users)]))
        elif action == "options":
            self.add(SessionUpdated(options={"max_turns": at}))
        elif action == "finish":
            self.add(
                BackgroundFinished(background_id=f"b{at}", command="sleep", state="ended", exit_code=0, preview="")
            )
        elif (ranges := tree.newest_with(said[at % len(said)].seq)) is not None:
            self.select(ranges)

    async def history(self, known: History | None = None) -> History:
        history = known or History(ID)
        await history.read_on(MemoryEventLog(self.store))
        return history

    async def turns(self, known: History | None = None) -> list[Any]:
        return (await self.history(known)).threads.main.conversation("none").turns


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["say", "edit", "again", "undo", "show", "show", "options", "compact", "finish", "interrupt", "interrupt"]
        ),
        st.integers(0, 40),
    ),
    max_size=14,
)


@settings(max_examples=120, deadline=None)
@given(first=ACTIONS, then=ACTIONS)
def test_what_was_shown_once_is_shown_again_as_it_was(
    first: list[tuple[str, int]], then: list[tuple[str, int]]
) -> None:
    async def main() -> None:
        talk, kept = Talk(*new_row()), History(ID)
        talk.say()
        for action, at in first:
            talk.do(action, at)
        before, path = await talk.turns(), talk.tree().until(len(talk.row.events))
        numbers = [one.seq for one in talk.tree().said if talk.tree().shown.has(one.seq)]
        for action, at in then:
            talk.do(action, at)
            # Read on as it goes, or all at once: the same.
            assert await talk.turns(kept) == await talk.turns()
        talk.select(path)
        assert await talk.turns() == before
        assert await talk.turns(kept) == before
        tree = talk.tree()
        assert [one.seq for one in tree.said if tree.shown.has(one.seq)] == numbers
        said = await MemoryTranscripts(talk.store).messages(ID, up_to=len(talk.row.events), limit=1_000)
        assert [event.seq for event in said] == numbers
        # The settings are those of now, on every path.
        options = [one.payload.options for one in talk.row.events if isinstance(one.payload, SessionUpdated)]
        chosen = (await talk.history()).threads.main.chosen.options
        assert chosen == (options[-1] if options else None)

    asyncio.run(main())


@settings(max_examples=120, deadline=None)
@given(actions=ACTIONS)
def test_each_message_is_on_a_path_that_can_be_shown_and_counted_once(actions: list[tuple[str, int]]) -> None:
    talk = Talk(*new_row())
    talk.say()
    for action, at in actions:
        talk.do(action, at)
    tree = talk.tree()
    for one in tree.said:
        ranges = tree.newest_with(one.seq)
        path = tree.shown if ranges is None else Path(tuple((a, b) for a, b in ranges), tree.last_seq + 1)
        assert path.has(one.seq)
        # On that path the same is shown above it.
        before = [it.seq for it in tree.said if path.has(it.seq) and it.place <= one.place]
        until = tree.until(one.seq)
        assert [it.seq for it in tree.said if any(a <= it.seq <= b for a, b in until)] == before
        assert all(path.has(seq) for a, b in until for seq in range(a, b + 1))
    numbers = {one.seq for one in tree.said}
    roots = [seq for seq in numbers if not any(a <= one <= b for one in numbers for a, b in tree.before(seq))]
    assert sum(tree.count(seq) for seq in roots) == len(numbers)
    for fork in tree.forks():
        assert sum(child.is_shown for child in fork.children) <= 1
        assert len(fork.children) > 1 or not fork.children[0].is_shown


def test_a_deleted_branch_is_neither_listed_nor_shown() -> None:
    talk = Talk(*new_row())
    talk.say()
    first = talk.tree().said[1].seq
    talk.do("again", 0)
    talk.do("again", 0)
    tree = talk.tree()
    ways = tree.forks()[0].children
    assert [(one.messages, one.is_shown) for one in ways] == [(1, False), (1, False), (1, True)]
    talk.deleted.add(first)
    tree = talk.tree()
    assert not tree.has_message(first)
    assert [one.seq for one in tree.forks()[0].children] == [one.seq for one in ways[1:]]
    # The question that all of them answer leads to what is shown.
    assert tree.newest_with(1) is None


def test_after_an_undo_what_was_taken_back_is_the_only_other_way() -> None:
    talk = Talk(*new_row())
    talk.say()
    talk.say()
    second = talk.tree().said[2].seq
    talk.do("undo", 1)
    fork = talk.tree().forks()[0]
    assert (fork.after_seq, [(one.seq, one.messages) for one in fork.children]) == (
        talk.tree().said[1].seq,
        [(second, 2)],
    )


def interrupted(*, stops: bool = False) -> tuple[Talk, int, int, int, int]:
    """A talk with the numbers of its first message, the one sent meanwhile, the answer cut by it, and its answer."""
    talk = Talk(*new_row())
    talk.interrupt(stops=stops)
    first, meanwhile, cut, answer = (one.seq for one in talk.tree().said)
    return talk, first, meanwhile, cut, answer


@pytest.mark.parametrize("stops", [False, True])
def test_a_message_sent_meanwhile_stands_below_the_answer_it_interrupted(*, stops: bool) -> None:
    talk, first, meanwhile, cut, answer = interrupted(stops=stops)
    tree = talk.tree()

    def said(ranges: list[list[int]]) -> list[int]:
        return [one.seq for one in tree.said if any(begin <= one.seq <= end for begin, end in ranges)]

    assert said(tree.before(meanwhile)) == [first, cut] == said(tree.until(cut))
    assert said(tree.until(meanwhile)) == [first, meanwhile, cut] == said(tree.before(answer))
    assert [tree.question_of(one) for one in (first, cut, meanwhile, answer)] == [first, first, meanwhile, meanwhile]
    # The end of a run that was stopped belongs to what was cut, and so does the result of its call.
    above = tree.before(meanwhile)
    kept = [one.payload.type for one in talk.row.events if any(a <= (one.seq or 0) <= b for a, b in above)]
    assert ("run.finished" in kept) == stops
    assert "tool.finished" in kept


def test_what_was_cut_stays_when_the_message_that_cut_it_is_undone_or_deleted() -> None:
    talk, _, meanwhile, cut, _ = interrupted()
    talk.do("undo", 1)
    assert asyncio.run(talk.turns())[-1].text == talk.row.events[cut - 1].payload.text  # type: ignore[union-attr]
    (fork,) = talk.tree().forks()
    assert (fork.after_seq, [(one.seq, one.messages) for one in fork.children]) == (cut, [(meanwhile, 2)])
    talk.deleted.add(meanwhile)
    assert talk.tree().has_message(cut)
    assert talk.tree().forks() == []


def test_what_was_cut_is_answered_again_without_the_message_that_cut_it() -> None:
    talk, first, *_ = interrupted()
    talk.do("again", 2)
    said = [one.seq for one in talk.tree().said if talk.tree().shown.has(one.seq)]
    assert said[0] == first
    assert len(said) == 2
    assert not isinstance(talk.row.events[said[1] - 1].payload, MessageUser)
