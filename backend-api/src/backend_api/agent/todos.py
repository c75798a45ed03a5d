"""An agent's own to-do list: its limits, and how it changes. A change that doesn't fit is refused as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend_api.agent.events import Todo

MAX_TODOS = 20
MAX_TODO_CHARACTERS = 200


class TodosRefusedError(Exception):
    """A list that is not allowed; the message says what to do instead. Nothing of the change was made."""


def checked(todos: Sequence[Todo]) -> list[Todo]:
    """The list, if it is allowed. Raises `TodosRefusedError`."""
    if len(todos) > MAX_TODOS:
        raise TodosRefusedError(
            f"a list has at most {MAX_TODOS} todos, this would be {len(todos)}. Leave out what is completed, or put "
            "several small ones into one, with todo_write."
        )
    at_work = [number for number, todo in enumerate(todos, 1) if todo.status == "in_progress"]
    if len(at_work) > 1:
        raise TodosRefusedError(
            f"only one todo may be in progress, and {' and '.join(map(str, at_work))} would be. Complete the one you "
            "are at first, or set it back to pending with todo_write."
        )
    return [*todos]


def completed(todos: Sequence[Todo], number: int) -> list[Todo]:
    """The list with this one completed; numbers are those of `numbered`. Raises `TodosRefusedError`."""
    if not 1 <= number <= len(todos):
        raise TodosRefusedError(f"there is no todo {number}. {numbered(todos)}")
    return [replace(todo, status="completed") if at == number else todo for at, todo in enumerate(todos, 1)]


def is_open(todos: Sequence[Todo]) -> bool:
    """Whether any to-do is not completed."""
    return any(todo.status != "completed" for todo in todos)


def counted(todos: Sequence[Todo]) -> str:
    """The number of to-dos in each state."""
    statuses = ("completed", "in_progress", "pending")
    counts = ", ".join(f"{sum(todo.status == status for todo in todos)} {status}" for status in statuses)
    return f"{len(todos)} todos: {counts}."


def numbered(todos: Sequence[Todo]) -> str:
    """The list for its agent, a line each."""
    lines = [f"{number}. [{todo.status}] {todo.content}" for number, todo in enumerate(todos, 1)]
    return "\n".join(["The todos are:", *lines]) if lines else "There are no todos."
