"""The tasks of a session: numbers, what blocks what, and that no change is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.agent.events import Task, TasksUpdated
from backend_api.agent.tasks import (
    MAX_CHARACTERS,
    MAX_TASKS,
    NO_TASKS,
    TaskBoard,
    TaskChange,
    TasksRefusedError,
    changed_by_person,
    describe_edit,
    listed,
    open_blockers,
    task_of,
    with_change,
    with_task,
    without_task,
)


def having(count: int) -> TasksUpdated:
    known = NO_TASKS
    for number in range(count):
        known = with_task(known, Task(id="", subject=f"part {number + 1}"))
    return known


def blocked(known: TasksUpdated, *edges: tuple[str, str]) -> TasksUpdated:
    """Each edge is a task and one that it blocks."""
    for before, after in edges:
        known = with_change(known, after, TaskChange(add_blocked_by=[before]))
    return known


def refusal(known: TasksUpdated, task_id: str, change: TaskChange) -> str:
    with pytest.raises(TasksRefusedError) as refused:
        with_change(known, task_id, change)
    return str(refused.value)


def test_a_number_is_given_once_also_of_one_that_is_deleted() -> None:
    known = with_task(without_task(having(2), "2"), Task(id="", subject="another"))
    assert [(task.id, task.subject) for task in known.tasks] == [("1", "part 1"), ("3", "another")]


def test_what_blocks_another_is_told_both_ways() -> None:
    known = with_change(having(3), "1", TaskChange(add_blocks=["2", "3"]))
    known = with_change(known, "3", TaskChange(add_blocked_by=["2", "2"]))
    assert [task.blocks for task in known.tasks] == [["2", "3"], ["3"], []]
    assert [task.blocked_by for task in known.tasks] == [[], ["1"], ["1", "2"]]


def test_what_is_blocked_can_not_be_begun_until_all_that_blocks_it_is_over() -> None:
    known = blocked(having(3), ("1", "3"), ("2", "3"))
    for status in ("in_progress", "completed"):
        assert "task 3 is blocked by 1 and 2" in refusal(known, "3", TaskChange(status=status))
    known = with_change(known, "1", TaskChange(status="completed"))
    assert "task 3 is blocked by 2, to be completed first" in refusal(known, "3", TaskChange(status="in_progress"))
    assert with_change(known, "2", TaskChange(status="completed")).tasks[2].status == "pending"
    assert task_of(without_task(known, "2").tasks, "3").blocked_by == ["1"], "of what is deleted nothing is left"
    assert task_of(without_task(known, "3").tasks, "2").blocks == []
    for free in (with_change(known, "2", TaskChange(status="completed")), without_task(known, "2")):
        assert task_of(with_change(free, "3", TaskChange(status="in_progress")).tasks, "3").status == "in_progress"


def test_a_circle_is_refused_with_its_way() -> None:
    known = blocked(having(3), ("1", "2"), ("2", "3"))
    assert "1 -> 2 -> 3 -> 1" in refusal(known, "1", TaskChange(add_blocked_by=["3"]))
    assert "1 -> 2 -> 3 -> 1" in refusal(known, "3", TaskChange(add_blocks=["1"]))
    assert "1 -> 1" in refusal(known, "1", TaskChange(add_blocks=["1"]))
    assert "3 -> 2 -> 3" in refusal(having(3), "2", TaskChange(add_blocks=["3"], add_blocked_by=["3"]))


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=30))
def test_whatever_is_asked_for_something_can_always_be_done(edges: list[tuple[int, int]]) -> None:
    known = having(6)
    for before, after in edges:
        try:
            known = blocked(known, (str(before), str(after)))
        except TasksRefusedError:
            continue
    for _ in range(6):
        free = [one for one in known.tasks if one.status == "pending" and not open_blockers(known.tasks, one)]
        assert free, listed(known.tasks)
        known = with_change(known, free[0].id, TaskChange(status="completed"))
    assert all(task.status == "completed" for task in known.tasks)


def test_an_unknown_one_is_named_with_those_there_are() -> None:
    assert refusal(having(2), "7", TaskChange()) == "there is no task '7'. Tasks: 1, 2."
    assert "no task '7'" in refusal(having(2), "1", TaskChange(add_blocked_by=["7"]))
    assert refusal(NO_TASKS, "1", TaskChange()) == "there is no task '1'. Tasks: none."


def test_only_what_is_given_changes_and_entries_are_merged() -> None:
    known = with_change(having(1), "1", TaskChange(owner="me", metadata={"a": 1, "b": 2}, description="all of it"))
    known = with_change(known, "1", TaskChange(status="in_progress", metadata={"b": None, "c": "x"}, description=""))
    (task,) = known.tasks
    assert (task.owner, task.status, task.metadata, task.description) == ("me", "in_progress", {"a": 1, "c": "x"}, "")
    assert listed(known.tasks) == "The tasks are:\n1. [in_progress] part 1 (me)"


def test_there_is_a_bound_to_their_number_and_to_their_size() -> None:
    board = TaskBoard(lambda: replace(having(MAX_TASKS), version=1))
    with pytest.raises(TasksRefusedError, match=f"at most {MAX_TASKS} tasks"):
        board.change(lambda known: with_task(known, Task(id="", subject="one more")))
    long = Task(id="", subject="long", description="x" * MAX_CHARACTERS)
    with pytest.raises(TasksRefusedError, match=f"may have {MAX_CHARACTERS} characters, these have 4"):
        TaskBoard().change(lambda known: with_task(known, long))
    assert board.known().version == 1, "what is refused changes nothing"


def test_a_change_goes_on_from_one_that_is_not_recorded_yet_and_the_newest_counts() -> None:
    recorded = [NO_TASKS]
    board = TaskBoard(lambda: recorded[0])
    first = board.change(lambda known: with_task(known, Task(id="", subject="a")))
    second = board.change(lambda known: with_task(known, Task(id="", subject="b")))
    recorded[0] = second
    assert [task.subject for task in board.known().tasks] == ["a", "b"]
    recorded[0] = first
    assert board.known() == second, "whichever was stored first"
    recorded[0] = replace(second, version=9, tasks=[])
    assert board.known().tasks == []


def test_a_change_that_is_not_recorded_is_made_once_more_on_what_the_person_changed() -> None:
    recorded = having(2)
    board = TaskBoard(lambda: recorded)
    first = board.change(lambda known: with_change(known, "1", TaskChange(status="completed")))
    board.change(lambda known: with_task(known, Task(id="", subject="of the agent")))
    board.change(lambda known: with_change(known, "2", TaskChange(owner="me")))
    recorded = changed_by_person(first, lambda known: without_task(known, "2"))
    board.settle(first)
    known = board.known()
    assert [(task.id, task.subject, task.status) for task in known.tasks] == [
        ("1", "part 1", "completed"),
        ("3", "of the agent", "pending"),
    ], "what can't be any more is left out"
    assert (known.edits, known.by) == (1, "agent")
    assert known.version > recorded.version
    assert board.known() == known


def test_the_person_ticks_off_what_is_blocked_and_an_agent_does_not() -> None:
    known = blocked(having(2), ("1", "2"))
    done = TaskChange(status="completed")
    assert "blocked by 1" in refusal(known, "2", done)
    ticked = changed_by_person(known, lambda one: with_change(one, "2", done, though_blocked=True))
    assert (ticked.tasks[1].status, ticked.by, ticked.edits, ticked.version) == ("completed", "person", 1, 1)


def test_an_edit_is_told_task_by_task() -> None:
    before = having(4).tasks
    after = [replace(before[0], status="completed"), replace(before[2], priority="high"), before[3]]
    assert describe_edit(before, [*after, Task(id="5", subject="new")]) == [
        "- deleted task 2: part 2",
        "- set task 1 to completed: part 1",
        "- edited task 3: part 3",
        "- added task 5: new",
    ]


def test_a_priority_is_told_where_it_is_not_the_usual_one() -> None:
    known = with_change(having(2), "1", TaskChange(priority="high"))
    assert listed(known.tasks) == "The tasks are:\n1. [pending] part 1 (high priority)\n2. [pending] part 2"
