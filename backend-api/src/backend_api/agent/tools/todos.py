"""`todo_write`, `todo_add`, `todo_complete` and `todo_list`: an agent's own to-do list, which the person sees too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pydantic import Field

from backend_api.agent.events import Todo, TodoStatus, TodosUpdated
from backend_api.agent.todos import (
    MAX_TODO_CHARACTERS,
    MAX_TODOS,
    TodosRefusedError,
    checked,
    completed,
    counted,
    numbered,
)
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, local_tool

DEADLINE_MS = 5_000


# A docstring of these classes would be sent to the model.
class _Todo(Arguments):
    content: Line = Field(min_length=1, max_length=MAX_TODO_CHARACTERS, description="What is to be done, in one line.")
    status: TodoStatus = Field(default="pending", description="How far it is. At most one is in_progress.")
    active_form: Line = Field(
        default="",
        alias="activeForm",
        max_length=MAX_TODO_CHARACTERS,
        description="How you say so while you are at it, such as `Reading the log`.",
    )

    def as_todo(self) -> Todo:
        return Todo(content=self.content, status=self.status, active_form=self.active_form)


class WriteArguments(Arguments):
    todos: list[_Todo] = Field(
        max_length=MAX_TODOS, description="All todos, in their order; they replace what was there. Empty: none."
    )


class AddArguments(_Todo):
    pass


class CompleteArguments(Arguments):
    number: int = Field(ge=1, le=MAX_TODOS, description="Which one, by its number in the list.")


class ListArguments(Arguments):
    pass


def todo_tools() -> list[Tool]:
    """The tools of the to-do list. Each agent, also a sub-agent, has a list of its own. Each change is stored as the
    whole list, with the call's result, so that a call that was cut has changed nothing."""

    async def write(call: ToolCall, arguments: WriteArguments) -> Done:
        return _apply(lambda: [todo.as_todo() for todo in arguments.todos])

    async def add(call: ToolCall, arguments: AddArguments) -> Done:
        return _apply(lambda: [*call.todos(), arguments.as_todo()], lambda todos: f"Added as {len(todos)}. ")

    async def complete(call: ToolCall, arguments: CompleteArguments) -> Done:
        number = arguments.number
        return _apply(
            lambda: completed(call.todos(), number), lambda todos: f"Completed: {todos[number - 1].content}. "
        )

    async def tell(call: ToolCall, arguments: ListArguments) -> Done:
        return Done(success=True, output=numbered(call.todos()))

    note = partial(local_tool, effect="notes", deadline_ms=DEADLINE_MS)
    return [
        note(
            name="todo_write",
            description=(
                "Write your list of what there is to do, in place of the one before. Use it for work of many parts, "
                f"and for what you come across and must not forget: at most {MAX_TODOS}, one in progress. The person "
                "sees it, and it stays when the conversation is summed up."
            ),
            arguments=WriteArguments,
            phrase="Writing the to-do list",
            run_call=write,
        ),
        note(
            name="todo_add",
            description="Put one more at the end of your list of what there is to do.",
            arguments=AddArguments,
            phrase="Adding to the to-do list: {content}",
            run_call=add,
        ),
        note(
            name="todo_complete",
            description="Mark one of your todos as completed, as soon as it is and you have checked it.",
            arguments=CompleteArguments,
            phrase="Completing todo {number}",
            run_call=complete,
        ),
        note(
            name="todo_list",
            description="Read your list of what there is to do, with the numbers of all.",
            arguments=ListArguments,
            phrase="Looking at the to-do list",
            run_call=tell,
        ),
    ]


def _apply(change: Callable[[], Sequence[Todo]], describe: Callable[[Sequence[Todo]], str] = lambda _: "") -> Done:
    """The list after the change, or the reason why it was refused."""
    try:
        todos = checked(change())
    except TodosRefusedError as refused:
        return Done(success=False, output=f"Nothing was changed: {refused}")
    return Done(success=True, output=describe(todos) + counted(todos), events=[TodosUpdated(todos=todos)])
