"""An agent's own working list: what may stand in it, and what is kept of it with a summary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend_api.agent.capabilities.todos import TODOS
from backend_api.agent.capability import Capabilities
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import Todo
from backend_api.agent.todos import MAX_TODOS, TodosRefusedError, checked, completed, counted, numbered
from support.scripted import ANY

DUG = Todo(content="Dig", status="completed")
PLANTING = Todo(content="Plant", status="in_progress", active_form="Planting")
WATER = Todo(content="Water", status="pending")


def test_a_list_may_have_as_many_as_are_allowed_and_one_of_them_in_progress() -> None:
    todos = [PLANTING, *[WATER] * (MAX_TODOS - 1)]
    assert MAX_TODOS == 20
    assert checked(todos) == todos
    assert checked([]) == []


def test_one_more_is_refused_with_what_to_do() -> None:
    with pytest.raises(TodosRefusedError, match=r"at most 20 todos, this would be 21\. Leave out"):
        checked([WATER] * (MAX_TODOS + 1))


def test_a_second_one_in_progress_is_refused_with_what_to_do() -> None:
    with pytest.raises(TodosRefusedError, match=r"only one .*, and 1 and 3 would be\. Complete the one you are at"):
        checked([PLANTING, WATER, PLANTING])


def test_the_one_of_a_number_is_completed_and_no_other() -> None:
    assert completed([DUG, PLANTING, WATER], 2) == [DUG, replace(PLANTING, status="completed"), WATER]


@pytest.mark.parametrize("number", [0, 3, -1])
def test_what_is_not_there_is_not_completed_and_the_list_is_told(number: int) -> None:
    with pytest.raises(TodosRefusedError, match=rf"no todo {number}\. The todos are:\n1\. \[completed\] Dig"):
        completed([DUG, WATER], number)


def test_it_is_counted_and_read_by_numbers() -> None:
    assert counted([DUG, PLANTING, WATER]) == "3 todos: 1 completed, 1 in_progress, 1 pending."
    assert numbered([DUG, WATER]) == "The todos are:\n1. [completed] Dig\n2. [pending] Water"
    assert numbered([]) == "There are no todos."


def test_with_a_summary_it_is_kept_whole_as_long_as_something_is_left() -> None:
    conversation = Conversation(turns=[], seen_seq=1, next_turn=1, is_answered=False, todos=[DUG, WATER])
    own = Capabilities([TODOS], ANY)
    assert own.notes_after_compaction(conversation) == ["The todos are:\n1. [completed] Dig\n2. [pending] Water"]
    assert own.notes_after_compaction(replace(conversation, todos=[DUG])) == []
    assert own.notes_after_compaction(replace(conversation, todos=())) == []
