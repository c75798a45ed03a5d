"""The tasks of a session, which its agents share: their limits, and how they change. A change that doesn't fit is
refused as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from backend_api.agent.events import Task, TaskPriority, TaskStatus, TasksUpdated

MAX_TASKS = 100
MAX_CHARACTERS = 48_000
"""The most characters of all tasks together, as they are stored."""
NO_TASKS = TasksUpdated(version=0, last_id=0, tasks=[])
Tasks = Sequence[Task]
Change = Callable[[TasksUpdated], TasksUpdated]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEdit:
    """A change by the person that made this version, a line for each task."""

    version: int
    lines: Sequence[str]


class TasksRefusedError(Exception):
    """A change that is not allowed; the message says what to do instead. Nothing of it was made."""


@dataclass(slots=True)
class TaskBoard:
    """The tasks as a run knows them: the recorded ones, and its agents' changes since. Each change is made on the one
    before, so that two agents at work never lose each other's. If the person changed the tasks meanwhile, changes not
    recorded yet are made once more on top."""

    recorded: Callable[[], TasksUpdated] = lambda: NO_TASKS
    mirrored: dict[str, Task] = field(default_factory=dict[str, Task])
    """The tasks as they were last written into the workspace."""
    _ahead: TasksUpdated = NO_TASKS
    _unrecorded: dict[int, Change] = field(default_factory=dict[int, Change])
    """Changes by the versions that they made."""

    def known(self) -> TasksUpdated:
        recorded = self.recorded()
        if recorded.edits > self._ahead.edits:
            self._repeat_on(recorded)
        return max(recorded, self._ahead, key=lambda told: (told.edits, told.version))

    def change(self, change: Change) -> TasksUpdated:
        """Make a change, which is to be recorded. Raises `TasksRefusedError`."""
        self._ahead = _changed(self.known(), change)
        self._unrecorded[self._ahead.version] = change
        return self._ahead

    def settle(self, update: TasksUpdated) -> None:
        """Mark this update, and all changes before it, as recorded."""
        self._unrecorded = {version: one for version, one in self._unrecorded.items() if version > update.version}

    def forget_unrecorded(self) -> None:
        """Drop changes that were cut before they were recorded: they never happened."""
        self._ahead = NO_TASKS
        self._unrecorded = {}

    def _repeat_on(self, recorded: TasksUpdated) -> None:
        """Make changes once more on the recorded tasks. One that is no longer possible is dropped: its agent reads what
        the person changed."""
        changes, self._ahead, self._unrecorded = [*self._unrecorded.values()], recorded, {}
        for change in changes:
            with suppress(TasksRefusedError):
                self.change(change)


def _changed(known: TasksUpdated, change: Change, *, by_person: bool = False) -> TasksUpdated:
    changed = change(known)
    return replace(
        changed,
        version=known.version + 1,
        tasks=_checked(changed.tasks),
        by="person" if by_person else "agent",
        edits=known.edits + by_person,
    )


def changed_by_person(known: TasksUpdated, change: Change) -> TasksUpdated:
    """The tasks after a change of the person. Raises `TasksRefusedError`."""
    return _changed(known, change, by_person=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """Changes to one task; None leaves a field unchanged. An entry of `metadata` that is None is removed."""

    status: TaskStatus | None = None
    subject: str | None = None
    description: str | None = None
    active_form: str | None = None
    owner: str | None = None
    priority: TaskPriority | None = None
    add_blocked_by: Sequence[str] = ()
    add_blocks: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


def with_task(known: TasksUpdated, task: Task) -> TasksUpdated:
    """The tasks with one more, which gets the next number."""
    number = known.last_id + 1
    return replace(known, last_id=number, tasks=[*known.tasks, replace(task, id=str(number))])


def without_task(known: TasksUpdated, task_id: str) -> TasksUpdated:
    """The tasks without this one; those it blocked no longer wait for it. Raises `TasksRefusedError`."""
    task_of(known.tasks, task_id)
    left = [
        replace(
            task,
            blocked_by=[one for one in task.blocked_by if one != task_id],
            blocks=[one for one in task.blocks if one != task_id],
        )
        for task in known.tasks
        if task.id != task_id
    ]
    return replace(known, tasks=left)


_CHANGED = ("status", "subject", "description", "active_form", "owner", "priority")


def with_change(known: TasksUpdated, task_id: str, change: TaskChange, *, though_blocked: bool = False) -> TasksUpdated:
    """The tasks with one changed; only the person may complete a blocked one. Raises `TasksRefusedError`."""
    task = task_of(known.tasks, task_id)
    given = {name: getattr(change, name) for name in _CHANGED}
    merged = {**task.metadata, **change.metadata}
    changed = replace(
        task,
        **{name: value for name, value in given.items() if value is not None},
        metadata={name: value for name, value in merged.items() if value is not None},
    )
    tasks = [changed if one.id == task_id else one for one in known.tasks]
    edges = [
        *((before, task_id) for before in change.add_blocked_by),
        *((task_id, after) for after in change.add_blocks),
    ]
    tasks = _with_edges(tasks, edges)
    begins = change.status in ("in_progress", "completed") and not though_blocked
    if begins and (open_ones := open_blockers(tasks, task_of(tasks, task_id))):
        raise TasksRefusedError(
            f"task {task_id} is blocked by {_join_ids(open_ones)}, to be completed first. Complete or delete "
            f"{'it' if len(open_ones) == 1 else 'them'}, or take another task."
        )
    return replace(known, tasks=tasks)


def task_of(tasks: Tasks, task_id: str) -> Task:
    """The task of that id. Raises `TasksRefusedError`."""
    found = next((task for task in tasks if task.id == task_id), None)
    if found is None:
        ids = ", ".join(task.id for task in tasks) or "none"
        raise TasksRefusedError(f"there is no task {task_id!r}. Tasks: {ids}.")
    return found


def open_blockers(tasks: Tasks, task: Task) -> list[str]:
    """Ids of tasks that must be completed before this one may begin."""
    return [one.id for one in tasks if one.id in task.blocked_by and one.status != "completed"]


def free_task(tasks: Tasks, name: str) -> Task | None:
    """The first task that an agent of that name may begin: pending, not blocked, and nobody else's."""
    return next(
        (
            task
            for task in tasks
            if task.status == "pending" and task.owner in ("", name) and not open_blockers(tasks, task)
        ),
        None,
    )


def are_open(tasks: Tasks) -> bool:
    """Whether any task is not completed."""
    return any(task.status != "completed" for task in tasks)


def listed(tasks: Tasks) -> str:
    """The list of all tasks for an agent, a line each."""
    lines = [_line(tasks, task) for task in tasks]
    return "\n".join(["The tasks are:", *lines]) if lines else "There are no tasks."


def _line(tasks: Tasks, task: Task) -> str:
    owner = f" ({task.owner})" if task.owner else ""
    blockers = open_blockers(tasks, task)
    blocked = f" - blocked by {_join_ids(blockers)}" if blockers and task.status != "completed" else ""
    priority = f" ({task.priority} priority)" if task.priority != "normal" else ""
    return f"{task.id}. [{task.status}] {task.subject}{priority}{owner}{blocked}"


def describe_edit(before: Tasks, after: Tasks) -> list[str]:
    """The differences, a line each."""
    known = {task.id: task for task in before}
    left = {task.id for task in after}
    lines = [f"- deleted task {task.id}: {task.subject}" for task in before if task.id not in left]
    for task in after:
        if (old := known.get(task.id)) is None:
            lines.append(f"- added task {task.id}: {task.subject}")
        elif old.status != task.status:
            lines.append(f"- set task {task.id} to {task.status}: {task.subject}")
        elif old != task:
            lines.append(f"- edited task {task.id}: {task.subject}")
    return lines


def as_json(task: Task) -> dict[str, Any]:
    """The task as JSON for tools and files, with the field names of the tools' arguments."""
    fields = asdict(task)
    for name, told in (("active_form", "activeForm"), ("blocked_by", "blockedBy")):
        fields[told] = fields.pop(name)
    return fields


def _with_edges(tasks: Tasks, edges: Sequence[tuple[str, str]]) -> list[Task]:
    """Add edges, each from a task to one that it blocks."""
    by_id = {task.id: task for task in tasks}
    for before, after in edges:
        first, second = task_of(tasks, before), task_of(tasks, after)
        if (way := _find_path(by_id, after, before)) is not None:
            circle = " -> ".join([*way, after])
            raise TasksRefusedError(
                f"task {before} can't block task {after}: they would wait for each other ({circle})."
            )
        first, second = by_id[first.id], by_id[second.id]
        by_id[before] = replace(first, blocks=_added(first.blocks, after))
        by_id[after] = replace(second, blocked_by=_added(second.blocked_by, before))
    return [by_id[task.id] for task in tasks]


def _find_path(by_id: Mapping[str, Task], begin: str, end: str) -> list[str] | None:
    """The path from one task to another along `blocks`; None if there is none."""
    ways, seen = [[begin]], {begin}
    for way in ways:
        if way[-1] == end:
            return way
        further = [one for one in by_id[way[-1]].blocks if one not in seen]
        seen.update(further)
        ways += [[*way, one] for one in further]
    return None


def _added(ids: Sequence[str], one: str) -> list[str]:
    return [*ids] if one in ids else [*ids, one]


def _join_ids(ids: Sequence[str]) -> str:
    return " and ".join([", ".join(ids[:-1]), ids[-1]] if len(ids) > 1 else ids)


def _checked(tasks: Tasks) -> list[Task]:
    if len(tasks) > MAX_TASKS:
        raise TasksRefusedError(f"a session has at most {MAX_TASKS} tasks. Delete what is completed, with task_update.")
    size = len(json.dumps([asdict(task) for task in tasks], ensure_ascii=False))
    if size > MAX_CHARACTERS:
        raise TasksRefusedError(
            f"all tasks together may have {MAX_CHARACTERS} characters, these have {size}. Keep descriptions short, "
            "with the rest in a file, or delete what is completed."
        )
    return [*tasks]
