from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    BackgroundFinished,
    BackgroundStarted,
    BodyReference,
    ContentReference,
    ContextCompacted,
    ContextOpened,
    Event,
    MessageCompleted,
    MessageUser,
    PortClosed,
    PortOpened,
    PortResource,
    ResourcesUpdated,
    RunFinished,
    RunStarted,
    ThinkingCompleted,
    Todo,
    TodosUpdated,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.model import AssistantTurn, RenderedTurns, ToolTurn, UserTurn
from backend_api.agent.shortening import shorten
from backend_api.agent.step import NO_RESULT
from backend_api.agent.thread import Thread


def events(*payloads: Any, run_id: str = "r1", start: int = 1) -> list[Event]:
    numbers = count(start)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [Event(seq=next(numbers), at=at, session_id="s", run_id=run_id, payload=payload) for payload in payloads]


def thread_of(log: list[Event], outputs: dict[str, str] | None = None) -> Thread:
    thread = Thread()
    for event in log:
        thread.apply(event, (outputs or {}).get(getattr(event.payload, "call_id", "")))
    return thread


def fold(log: list[Event], outputs: dict[str, str] | None = None, *, run_id: str = "r1") -> Conversation:
    return thread_of(log, outputs).conversation(run_id)


def user(text: str) -> MessageUser:
    return MessageUser(message_id=text, text=text)


def said(text: str, turn: int = 1, **fields: Any) -> MessageCompleted:
    return MessageCompleted(message_id=f"{text}{turn}", text=text, turn=turn, **fields)


def called(call_id: str, turn: int = 1, **fields: Any) -> ToolCalled:
    return ToolCalled(call_id=call_id, name="look", arguments={"x": 1}, phrase="", turn=turn, **fields)


def told(contents: list[str]) -> TodosUpdated:
    return TodosUpdated(todos=[Todo(content=content, status="pending") for content in contents])


def finished(call_id: str, preview: str = "ok") -> ToolFinished:
    return ToolFinished(call_id=call_id, success=True, preview=preview)


END = RunFinished(run_id="r1", status="completed")


def test_an_answer_follows_its_question() -> None:
    conversation = fold(events(user("Hi"), said("Hello"), END))
    assert conversation.turns == [UserTurn(text="Hi"), AssistantTurn(text="Hello")]


def test_text_thinking_and_calls_of_one_turn_are_one_turn() -> None:
    thinking = ThinkingCompleted(message_id="t", text="hm", turn=1, signature="sig")
    conversation = fold(
        events(user("Go"), thinking, said("I look"), called("a"), called("b"), finished("b"), finished("a")),
        run_id="r1",
    )
    _, assistant, first, second = conversation.turns
    assert isinstance(assistant, AssistantTurn)
    assert [call.call_id for call in assistant.calls] == ["a", "b"]
    assert assistant.thinking[0].signature == "sig"
    assert [turn.call_id for turn in (first, second) if isinstance(turn, ToolTurn)] == ["a", "b"]
    assert conversation.next_turn == 2
    assert not conversation.is_answered


def test_the_working_list_is_the_one_told_last_whoever_has_the_run() -> None:
    log = [*events(told(["Dig"])), *events(told(["Dig", "Plant"]), END, run_id="r2", start=2)]
    assert [todo.content for todo in fold(log, run_id="r3").todos] == ["Dig", "Plant"]


def test_every_call_has_a_result() -> None:
    conversation = fold(events(user("Go"), called("a"), called("b"), finished("a"), END))
    results = [turn for turn in conversation.turns if isinstance(turn, ToolTurn)]
    assert [result.success for result in results] == [True, False]
    assert "may have happened" in results[1].output


def test_whole_outputs_take_the_place_of_previews_within_bounds() -> None:
    conversation = fold(events(user("Go"), called("a"), finished("a", "pre")), {"a": "x" * 50_000})
    result = conversation.turns[-1]
    assert isinstance(result, ToolTurn)
    assert len(result.output) <= 16_000
    assert "left out" in result.output


def test_a_message_the_model_had_not_read_comes_after_what_it_said() -> None:
    log = events(user("one"), user("two"), said("Answer to one", seen_seq=1))
    conversation = fold(log, run_id="r1")
    assert [getattr(turn, "text", "") for turn in conversation.turns] == ["one", "Answer to one", "two"]
    assert not conversation.is_answered
    assert conversation.seen_seq == 2


def test_a_message_during_a_call_comes_after_its_result() -> None:
    log = events(user("one"), called("a", seen_seq=1), user("two"), finished("a"))
    kinds = [type(turn).__name__ for turn in fold(log, run_id="r1").turns]
    assert kinds == ["UserTurn", "AssistantTurn", "ToolTurn", "UserTurn"]


def test_a_whole_answer_is_told_apart_from_a_partial_one_and_one_of_another_run() -> None:
    assert fold(events(user("Hi"), said("Hello")), run_id="r1").is_answered
    assert fold(events(user("Hi"), said("")), run_id="r1").is_answered
    assert not fold(events(user("Hi"), said("Hel", partial=True)), run_id="r1").is_answered
    assert not fold(events(user("Hi"), said("Hello")), run_id="r2").is_answered
    assert not fold(events(user("Hi")), run_id="r1").is_answered


def test_turns_of_different_runs_with_one_number_stay_apart() -> None:
    log = events(user("a"), said("A"), END) + events(user("b"), said("B"), run_id="r2", start=4)
    conversation = fold(log, run_id="r2")
    assert [getattr(turn, "text", "") for turn in conversation.turns] == ["a", "A", "b", "B"]
    assert conversation.next_turn == 2


def test_the_runs_usage_goes_on_where_it_was() -> None:
    log = events(user("a"), UsageUpdated(usage=Usage(input=5)), run_id="r1")
    assert fold(log, run_id="r1").usage.input == 5
    assert fold(log, run_id="r2").usage.input == 0


def test_open_calls_are_those_of_the_run_without_an_end() -> None:
    thread = thread_of(events(called("a"), called("b"), finished("a")))
    assert list(thread.progress("r1").open_calls) == ["b"]
    assert not thread.progress("r2").open_calls


def test_attempts_without_progress_are_counted_since_a_tool_last_gave_a_result() -> None:
    begun = [RunStarted(run_id="r1", message_id="m", model="x", worker="w", attempt=number) for number in (1, 2, 3)]
    log = [user("Go"), begun[0], called("a"), begun[1], finished("a", NO_RESULT), begun[2]]
    assert thread_of(events(*log)).progress("r1").attempts_without_progress == 3
    assert thread_of(events(*log[:4], finished("a"), begun[2])).progress("r1").attempts_without_progress == 1
    assert thread_of(events(*log, user("b"), run_id="r2")).progress("r1").attempts_without_progress == 0


def test_shortening_keeps_head_and_tail_and_the_limit() -> None:
    assert shorten("abc", 3) == "abc"
    short = shorten("a" * 500 + "z" * 500, 200)
    assert len(short) <= 200
    assert short.startswith("aaa")
    assert short.endswith("zzz")
    assert len(shorten("x" * 100, 10)) <= 60


TURNS, SEEN = st.integers(1, 3), st.integers(0, 9)
PAYLOADS = st.one_of(
    st.builds(user, st.sampled_from(["one", "two"])),
    st.builds(said, st.sampled_from(["", "A", "B"]), TURNS, partial=st.booleans(), seen_seq=SEEN),
    st.builds(called, st.sampled_from("abc"), TURNS, seen_seq=SEEN),
    st.builds(finished, st.sampled_from("abc")),
    st.builds(ThinkingCompleted, message_id=st.just("t"), text=st.just("hm"), turn=TURNS),
    st.builds(told, st.lists(st.sampled_from(["Dig", "Plant"]), max_size=2)),
    st.just(END),
)
LOGS = st.lists(st.tuples(PAYLOADS, st.booleans()), max_size=25)


@given(LOGS)
def test_a_thread_asked_after_each_event_says_what_one_that_takes_them_all_at_once_says(log: Any) -> None:
    numbered: list[Event] = []
    run = 1
    growing = Thread()
    for payload, is_next_run in log:
        run += is_next_run
        numbered += events(payload, run_id=f"r{run}", start=len(numbered) + 1)
        growing.apply(numbered[-1])
        assert growing.conversation(f"r{run}") == fold(numbered, run_id=f"r{run}")


@given(LOGS)
def test_every_call_in_a_conversation_is_followed_by_its_one_result(log: Any) -> None:
    turns = fold(events(*(payload for payload, _ in log))).turns
    for index, turn in enumerate(turns):
        if isinstance(turn, AssistantTurn):
            results = turns[index + 1 : index + 1 + len(turn.calls)]
            assert [one.call_id for one in results if isinstance(one, ToolTurn)] == [one.call_id for one in turn.calls]


def test_a_background_command_whose_end_is_stored_before_its_start_does_not_run() -> None:
    started = BackgroundStarted(background_id="bg_1", call_id="c", command="true", timeout_s=7)
    finished = BackgroundFinished(background_id="bg_1", command="true", exit_code=0, preview="", state="ended")
    running = BackgroundStarted(background_id="bg_2", call_id="c", command="make", timeout_s=7)
    assert fold(events(finished, started, running)).background == [running]


def test_which_ports_are_open_is_told_to_the_model_by_the_results_of_its_calls_alone() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    shop = PortResource(id="p", port=3000, label="Shop", opened_at=at, opened_by="person")
    log: list[Any] = [user("a shop, please"), called("c"), ToolFinished(call_id="c", success=True, preview="open")]
    told = [
        PortOpened(port_id="p", port=3000, label="Shop", opened_by="person"),
        ResourcesUpdated(resources=[shop]),
        PortClosed(port_id="p", port=3000),
        ResourcesUpdated(resources=[]),
    ]
    assert fold(events(*log, *told)).turns == fold(events(*log)).turns
    assert fold(events(*log[:2], *told, *log[2:])).turns == fold(events(*log)).turns


def test_what_was_made_of_it_to_be_sent_is_kept_until_a_summary() -> None:
    thread = Thread()
    numbered = iter(events(user("hello"), opened("m"), said("hi"), opened("other"), summed_up()))

    def rendered_after_next() -> RenderedTurns:
        thread.apply(next(numbered))
        return thread.conversation("r1").rendered

    first = rendered_after_next()
    assert [rendered_after_next() is first for _ in range(4)] == [True, True, True, False]


def opened(model: str) -> ContextOpened:
    reference = ContentReference(digest="d", size=1)
    return ContextOpened(
        epoch=1, cause="started", model=model, system=reference, tools=reference, body=BodyReference(size=1)
    )


def summed_up() -> ContextCompacted:
    return ContextCompacted(kind="auto", summary="What was said.", before=10, after=1, through_seq=5)
