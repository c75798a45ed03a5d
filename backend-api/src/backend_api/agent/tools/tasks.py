"""`task_create`, `task_get`, `task_update` and `task_list`: the parts of a session's work, which its agents share."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from backend_api.agent.events import Task, TaskPriority, TasksUpdated
from backend_api.agent.tasks import (
    MAX_TASKS,
    TaskBoard,
    TaskChange,
    TasksRefusedError,
    as_json,
    listed,
    open_blockers,
    task_of,
    with_change,
    with_task,
    without_task,
)
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, Words, local_tool

DEADLINE_MS = 15_000
MAX_LINE_CHARACTERS = 200
MAX_DESCRIPTION_CHARACTERS = 4_000
MAX_OWNER_CHARACTERS = 64
MAX_ENTRIES = 20
MAX_VALUE_CHARACTERS = 500

Mirror = Callable[[str, str, TaskBoard], Awaitable[None]]
"""Writes the tasks into the workspace of a user's session, as far as possible."""
TaskId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20)]
Value = (
    Annotated[str, StringConstraints(max_length=MAX_VALUE_CHARACTERS)]
    | bool
    | Annotated[int, Field(ge=-(2**53), le=2**53)]
    | Annotated[float, Field(allow_inf_nan=False)]
    | None
)


async def no_mirror(session_id: str, user_id: str, board: TaskBoard) -> None:
    """Write nothing."""
    del session_id, user_id, board


class CreateArguments(Arguments):
    subject: Line = Field(min_length=1, max_length=MAX_LINE_CHARACTERS, description="What is to be done, in one line.")
    description: str = Field(
        default="", max_length=MAX_DESCRIPTION_CHARACTERS, description="All that whoever does it needs to know."
    )
    active_form: Line = Field(
        default="",
        alias="activeForm",
        max_length=MAX_LINE_CHARACTERS,
        description="How it is said while somebody is at it, such as `Reading the log`.",
    )
    priority: TaskPriority = "normal"


class GetArguments(Arguments):
    task_id: TaskId = Field(alias="taskId", description="Which one, by its id.")


class UpdateArguments(Arguments):
    task_id: TaskId = Field(alias="taskId", description="Which one, by its id.")
    status: Literal["pending", "in_progress", "completed", "deleted"] | None = Field(
        default=None, description="`in_progress` before you begin, `completed` once it is checked."
    )
    subject: Line | None = Field(default=None, min_length=1, max_length=MAX_LINE_CHARACTERS)
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION_CHARACTERS)
    active_form: Line | None = Field(default=None, alias="activeForm", max_length=MAX_LINE_CHARACTERS)
    owner: Line | None = Field(
        default=None, max_length=MAX_OWNER_CHARACTERS, description="Who works on it; empty: nobody."
    )
    priority: TaskPriority | None = None
    add_blocked_by: list[TaskId] = Field(
        default_factory=list[str],
        alias="addBlockedBy",
        max_length=MAX_TASKS,
        description="Ids of tasks to complete before this one.",
    )
    add_blocks: list[TaskId] = Field(
        default_factory=list[str],
        alias="addBlocks",
        max_length=MAX_TASKS,
        description="Ids of tasks to complete after this one.",
    )
    metadata: dict[Annotated[Words, StringConstraints(min_length=1, max_length=64)], Value] = Field(
        default_factory=dict[str, Value],
        max_length=MAX_ENTRIES,
        description="Entries to add or change; null removes one.",
    )


class ListArguments(Arguments):
    pass


def task_tools(mirror: Mirror = no_mirror) -> list[Tool]:
    """The tools of the tasks that all agents of a session share. Each change stores the whole list with the call's
    result."""

    async def changed(
        call: ToolCall, change: Callable[[TasksUpdated], TasksUpdated], describe: Callable[[TasksUpdated], str]
    ) -> Done:
        try:
            update = call.tasks.change(change)
        except TasksRefusedError as refused:
            return Done(success=False, output=f"Nothing was changed: {refused}")
        await mirror(call.session_id, call.user_id, call.tasks)
        return Done(success=True, output=describe(update), events=[update])

    async def create(call: ToolCall, arguments: CreateArguments) -> Done:
        task = Task(
            id="",
            subject=arguments.subject,
            description=arguments.description,
            active_form=arguments.active_form,
            priority=arguments.priority,
        )
        return await changed(
            call,
            lambda known: with_task(known, task),
            lambda update: f"Created task {update.last_id}: {task.subject}",
        )

    async def get(call: ToolCall, arguments: GetArguments) -> Done:
        tasks = call.tasks.known().tasks
        try:
            task = task_of(tasks, arguments.task_id)
        except TasksRefusedError as refused:
            return Done(success=False, output=f"{refused}"[:1].upper() + f"{refused}"[1:])
        fields = as_json(task) | {"openBlockers": open_blockers(tasks, task)}
        return Done(success=True, output=json.dumps(fields, ensure_ascii=False, indent=1))

    async def update(call: ToolCall, arguments: UpdateArguments) -> Done:
        task_id, status = arguments.task_id, arguments.status
        if status == "deleted":
            return await changed(
                call,
                lambda known: without_task(known, task_id),
                lambda update: f"Deleted task {task_id}. {_count_left(update)}",
            )
        change = TaskChange(
            status=status,
            subject=arguments.subject,
            description=arguments.description,
            active_form=arguments.active_form,
            owner=arguments.owner,
            priority=arguments.priority,
            add_blocked_by=arguments.add_blocked_by,
            add_blocks=arguments.add_blocks,
            metadata=arguments.metadata,
        )

        def describe(update: TasksUpdated) -> str:
            return f"Updated task {task_id}. {_describe_unblocked(update, task_id)}".rstrip()

        return await changed(call, lambda known: with_change(known, task_id, change), describe)

    async def tell(call: ToolCall, arguments: ListArguments) -> Done:
        return Done(success=True, output=listed(call.tasks.known().tasks))

    note = partial(local_tool, effect="notes", deadline_ms=DEADLINE_MS)
    return [
        note(
            name="task_create",
            description=(
                "Add a task to those of this session, for work of several parts that depend on each other or that "
                f"several agents share: at most {MAX_TASKS}. All agents of the session see the same tasks, the person "
                "too, and they stay when the conversation is summed up. For a list of your own use todo_write."
            ),
            arguments=CreateArguments,
            phrase="Adding a task: {subject}",
            run_call=create,
        ),
        note(
            name="task_get",
            description="Read one task of the session with all that is known of it.",
            arguments=GetArguments,
            phrase="Looking at task {taskId}",
            run_call=get,
        ),
        note(
            name="task_update",
            description=(
                "Change a task of the session: how far it is, who works on it, and what has to be completed before "
                "it. One that is blocked can't be begun; completing what blocks it, or deleting that, unblocks it."
            ),
            arguments=UpdateArguments,
            phrase="Updating task {taskId}",
            run_call=update,
        ),
        note(
            name="task_list",
            description="Read all tasks of the session: how far each is, who works on it, what blocks it.",
            arguments=ListArguments,
            phrase="Looking at the tasks",
            run_call=tell,
        ),
    ]


def _describe_unblocked(update: TasksUpdated, task_id: str) -> str:
    """The tasks that completing this one unblocks."""
    after = task_of(update.tasks, task_id).blocks
    free = [task.id for task in update.tasks if task.id in after and not open_blockers(update.tasks, task)]
    return f"No longer blocked: {', '.join(free)}." if free else ""


def _count_left(update: TasksUpdated) -> str:
    return f"{len(update.tasks)} left."
