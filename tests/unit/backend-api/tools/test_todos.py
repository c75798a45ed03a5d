"""The tools of an agent's own working list: each change is the whole list, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.agent.events import Todo, TodosUpdated
from backend_api.agent.todos import MAX_TODO_CHARACTERS, MAX_TODOS
from backend_api.agent.tool import Done
from backend_api.agent.tools.local import LocalTools
from backend_api.agent.tools.todos import todo_tools
from support.scripted import call_tool

DIG = {"content": "Dig"}
DIGGING = {"content": "Dig", "status": "in_progress", "activeForm": "Digging"}
WATER = Todo(content="Water", status="pending")


class Having:
    """An agent that has these todos."""

    def __init__(self, *todos: Todo) -> None:
        self.todos: Sequence[Todo] = todos

    async def call(self, name: str, arguments: dict[str, Any]) -> Done:
        return await call_tool(LocalTools(todo_tools()), name, arguments, todos=lambda: self.todos)


def told(done: Done) -> list[Todo]:
    (event,) = done.events
    assert isinstance(event, TodosUpdated)
    return event.todos


async def test_a_list_that_is_written_takes_the_place_of_the_one_before() -> None:
    done = await Having(WATER).call("todo_write", {"todos": [DIGGING, {"content": " Plant "}]})
    assert (done.success, done.output) == (True, "2 todos: 0 completed, 1 in_progress, 1 pending.")
    digging = Todo(content="Dig", status="in_progress", active_form="Digging")
    assert told(done) == [digging, Todo(content="Plant", status="pending")]
    assert told(await Having(WATER).call("todo_write", {"todos": []})) == []


async def test_one_is_added_at_the_end() -> None:
    done = await Having(WATER).call("todo_add", DIG)
    assert done.output == "Added as 2. 2 todos: 0 completed, 0 in_progress, 2 pending."
    assert told(done) == [WATER, Todo(content="Dig", status="pending")]


async def test_one_is_completed_by_its_number() -> None:
    done = await Having(WATER).call("todo_complete", {"number": 1})
    assert done.output == "Completed: Water. 1 todos: 1 completed, 0 in_progress, 0 pending."
    assert told(done) == [replace(WATER, status="completed")]


async def test_the_list_is_read_and_nothing_is_stored_of_that() -> None:
    done = await Having(WATER).call("todo_list", {})
    assert (done.success, done.output, done.events) == (True, "The todos are:\n1. [pending] Water", ())


@pytest.mark.parametrize(
    ("name", "arguments", "fault"),
    [
        ("todo_write", {"todos": [DIGGING, DIGGING]}, "only one todo may be in progress, and 1 and 2 would be"),
        ("todo_add", DIGGING, "only one todo may be in progress, and 1 and 2 would be"),
        ("todo_complete", {"number": 2}, "there is no todo 2"),
    ],
)
async def test_what_may_not_be_changes_nothing_and_says_what_to_do(name: str, arguments: Any, fault: str) -> None:
    done = await Having(replace(WATER, status="in_progress")).call(name, arguments)
    assert (done.success, done.events) == (False, ())
    assert done.output.startswith("Nothing was changed: ")
    assert fault in done.output


async def test_one_more_than_may_be_is_not_added() -> None:
    done = await Having(*[WATER] * MAX_TODOS).call("todo_add", DIG)
    assert (done.success, done.events) == (False, ())
    assert "at most 20 todos" in done.output


@pytest.mark.parametrize(
    ("todos", "fault"),
    [
        ([DIG] * (MAX_TODOS + 1), f"at most {MAX_TODOS}"),
        ([{"content": "  "}], "todos.0.content"),
        ([{"content": "a\nb"}], "todos.0.content"),
        ([{"content": "x" * (MAX_TODO_CHARACTERS + 1)}], "todos.0.content"),
        ([{**DIG, "activeForm": "x" * (MAX_TODO_CHARACTERS + 1)}], "todos.0.activeForm"),
        ([{**DIG, "status": "done"}], "todos.0.status"),
        ([{**DIG, "priority": 1}], "todos.0.priority"),
        ("none", "todos"),
    ],
)
async def test_what_is_no_list_is_told_to_the_model(todos: Any, fault: str) -> None:
    done = await Having().call("todo_write", {"todos": todos})
    assert (done.success, done.events) == (False, ())
    assert fault in done.output


async def test_they_only_note() -> None:
    tools = todo_tools()
    assert {tool.spec.effect for tool in tools} == {"notes"}
    assert not any(tool.spec.needs_sandbox or tool.spec.dangerous for tool in tools)


TEXTS, STATUSES = st.sampled_from(["Dig", "Plant"]), st.sampled_from(["pending", "in_progress", "completed"])
GIVEN = st.fixed_dictionaries({"content": TEXTS}, optional={"status": STATUSES, "activeForm": TEXTS})
CALLS = st.one_of(
    st.tuples(st.just("todo_write"), st.fixed_dictionaries({"todos": st.lists(GIVEN, max_size=22)})),
    st.tuples(st.just("todo_add"), GIVEN),
    st.tuples(st.just("todo_complete"), st.fixed_dictionaries({"number": st.integers(0, 22)})),
    st.tuples(st.just("todo_list"), st.fixed_dictionaries(dict[str, Any]())),
)


@given(st.lists(CALLS, max_size=12))
async def test_whatever_is_called_the_list_is_one_that_may_be_and_what_is_refused_leaves_it(calls: Any) -> None:
    agent = Having()
    for name, arguments in calls:
        done = await agent.call(name, arguments)
        assert bool(done.events) == (done.success and name != "todo_list")
        if done.events:
            agent.todos = told(done)
        assert len(agent.todos) <= MAX_TODOS
        assert sum(todo.status == "in_progress" for todo in agent.todos) <= 1
