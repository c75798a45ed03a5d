"""The agents of a session are threads of its one stream, and none reads what another one says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    AgentEvent,
    BodyReference,
    ContentReference,
    ContextNote,
    ContextOpened,
    Event,
    InstructionsFound,
    MessageCompleted,
    MessageUser,
    Notice,
    RunFinished,
    RunStarted,
    StoredPayload,
    SubagentStarted,
    ThinkingCompleted,
    Todo,
    TodosUpdated,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
    agent_of,
)
from backend_api.agent.model import AssistantTurn, ToolTurn, UserTurn
from backend_api.agent.new_events import NewEvent
from backend_api.agent.thread import Thread
from backend_api.agent.threads import Threads, subagent_of
from backend_api.conversations.application.event_json import event_fields, event_from

AGENTS = (None, "agent_a", "agent_b")
OPENED = ContextOpened(
    epoch=1,
    cause="started",
    model="m",
    system=ContentReference(digest="d", size=1),
    tools=ContentReference(digest="d", size=1),
    body=BodyReference(size=1),
)


def numbered(payloads: Sequence[StoredPayload]) -> list[Event]:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Event(seq=number, at=at, session_id="s", run_id="r1", payload=payload)
        for number, payload in enumerate(payloads, 1)
    ]


def says(agent: str | None, kind: str, number: int) -> StoredPayload:
    """The same kinds of event, by whichever agent; calls and turns are numbered alike in all of them."""
    turn, call = number // 3 + 1, f"c{number % 4}"
    match kind:
        case "text":
            return MessageCompleted(message_id="m", text=f"{agent} says {number}", turn=turn, agent_id=agent)
        case "think":
            return ThinkingCompleted(message_id="t", text=f"{agent} thinks", turn=turn, agent_id=agent)
        case "call":
            return ToolCalled(call_id=call, name="look", arguments={}, phrase="", turn=turn, agent_id=agent)
        case "result":
            return ToolFinished(call_id=call, success=True, preview=f"{agent} saw {number}", agent_id=agent)
        case "note":
            return ContextNote(kind="day", text=f"{agent} is told {number}", agent_id=agent)
        case "todos":
            return TodosUpdated(todos=[Todo(content=f"{agent} {number}", status="pending")], agent_id=agent)
        case "found":
            return InstructionsFound(path=f"{number % 3}", text=f"{agent} finds {number}", agent_id=agent)
        case "opening":
            return replace(OPENED, epoch=number + 1, agent_id=agent)
        case "usage":
            return UsageUpdated(
                usage=Usage(input=number), agent_usage=Usage(input=1) if agent else None, agent_id=agent
            )
        case _:
            return Notice(text=f"{agent} notes", agent_id=agent)


KINDS = st.sampled_from(
    ["text", "think", "call", "result", "note", "opening", "usage", "notice", "todos", "found", "person"]
)


def log_of(steps: list[tuple[str | None, str]]) -> list[Event]:
    begun: list[StoredPayload] = [MessageUser(message_id="m0", text="go")]
    begun += [
        SubagentStarted(subagent_id=agent, kind="general", task=f"task of {agent}", parent_call_id=agent)
        for agent in AGENTS
        if agent
    ]
    return numbered(
        begun
        + [
            MessageUser(message_id=f"m{number}", text=f"person says {number}")
            if kind == "person"
            else says(agent, kind, number)
            for number, (agent, kind) in enumerate(steps)
        ]
    )


@given(st.lists(st.tuples(st.sampled_from(AGENTS), KINDS), max_size=40))
def test_a_conversation_is_what_its_own_events_say_whatever_stands_between_them(
    steps: list[tuple[str | None, str]],
) -> None:
    log = log_of(steps)
    together = Threads()
    for event in log:
        together.apply(event, f"whole {event.seq}" if event.seq and event.seq % 2 else None)
    for agent in AGENTS:
        alone = Thread()
        for event in log:
            if agent_of(event.payload) == agent:
                alone.apply(event, f"whole {event.seq}" if event.seq and event.seq % 2 else None)
        mine, own = together.of(agent), alone
        assert without_usage(mine.conversation("r1")) == without_usage(own.conversation("r1"))
        assert mine.progress("r1").open_calls == own.progress("r1").open_calls
        read = repr(mine.conversation("r1").turns)
        assert not [other for other in AGENTS if other != agent and (f"{other} says" in read or f"{other} saw" in read)]


def without_usage(conversation: Conversation) -> Conversation:
    """The main agent's is the run's, all its agents together."""
    return replace(conversation, usage=Usage())


@given(st.lists(st.tuples(st.sampled_from(AGENTS), KINDS), max_size=30), st.integers(0, 30))
def test_a_log_read_in_two_parts_from_its_json_is_the_same_conversations(
    steps: list[tuple[str | None, str]], cut: int
) -> None:
    log = log_of(steps)
    at_once, in_parts = Threads(), Threads()
    for event in log:
        at_once.apply(event)
    for event in [*log[:cut], *log[cut:]]:
        in_parts.apply(event_from(json.loads(json.dumps(event_fields(event)))))
        in_parts.main.conversation("r1")
    for agent in AGENTS:
        assert in_parts.of(agent).conversation("r1") == at_once.of(agent).conversation("r1")


@given(st.lists(st.tuples(st.just(None), KINDS), max_size=20))
def test_events_of_the_main_agent_say_nothing_of_agents(steps: list[tuple[str | None, str]]) -> None:
    for event in log_of(steps):
        if not isinstance(event.payload, SubagentStarted):
            assert "agent_id" not in event_fields(event)


def test_an_agent_begins_with_its_task_and_what_it_used_is_its_own_and_the_runs() -> None:
    agent = subagent_of("c1")
    threads = Threads()
    begun: list[Any] = [
        MessageUser(message_id="m", text="go"),
        RunStarted(run_id="r1", message_id="m", model="x", worker="w"),
        ToolCalled(call_id="c1", name="task", arguments={}, phrase="", turn=1, seen_seq=1),
        SubagentStarted(subagent_id=agent, kind="explore", task="find it", parent_call_id="c1"),
        MessageCompleted(message_id="n", text="Found.", turn=1, seen_seq=4, agent_id=agent),
        UsageUpdated(usage=Usage(input=9), agent_usage=Usage(input=2), agent_id=agent),
    ]
    for event in numbered(begun):
        threads.apply(event)
    child, main = threads.of(agent).conversation("r1"), threads.main.conversation("r1")
    assert child.turns == [UserTurn(text="find it"), AssistantTurn(text="Found.")]
    assert child.is_answered
    assert (child.usage.input, main.usage.input) == (2, 9)
    assert [type(turn) for turn in main.turns] == [UserTurn, AssistantTurn, ToolTurn]
    assert main.seen_seq == 1


def test_an_agent_is_forgotten_with_the_result_of_its_call_and_with_the_run() -> None:
    for end in (
        ToolFinished(call_id="c1", success=True, preview="ok"),
        RunFinished(run_id="r1", status="stopped"),
    ):
        threads = Threads()
        payloads = [
            SubagentStarted(subagent_id=subagent_of("c1"), kind="general", task="do it", parent_call_id="c1"),
            end,
        ]
        for event in numbered(payloads):
            threads.apply(event)
        assert threads.of(subagent_of("c1")).conversation("r1").turns == []


def test_what_an_agent_of_another_one_read_is_no_message_of_the_person() -> None:
    payload = MessageCompleted(message_id="m", text="", seen_seq=7)
    assert NewEvent(payload=payload).seen_seq == 7
    assert NewEvent(payload=replace(payload, agent_id="agent_c1")).seen_seq == 0
    assert isinstance(payload, AgentEvent)


def test_answers_of_sub_agents_are_counted_and_their_summaries_are_not() -> None:
    threads = Threads()
    used = UsageUpdated(usage=Usage(input=1), agent_usage=Usage(input=1), agent_id="agent_a")
    payloads: list[StoredPayload] = [
        RunStarted(run_id="r1", message_id="m", model="m", worker="w"),
        *(ToolCalled(call_id=one, name="task", arguments={}, phrase="", turn=1) for one in ("a", "b")),
        used,
        ToolCalled(call_id="c", name="look", arguments={}, phrase="", turn=1, agent_id="agent_a"),
        ToolFinished(call_id="c", success=True, preview="seen", agent_id="agent_a"),
        used,
        Notice(text="It was not summed up.", code="compaction_failed", agent_id="agent_a"),
        MessageCompleted(message_id="x", text="Done.", turn=2, agent_id="agent_a"),
        used,
        ToolFinished(call_id="a", success=True, preview="Done."),
        MessageCompleted(message_id="y", text="Also done.", turn=1, agent_id="agent_b"),
        replace(used, agent_id="agent_b"),
    ]
    for event in numbered(payloads):
        threads.apply(event)
    assert threads.main.progress("r1").turns_below == 3
