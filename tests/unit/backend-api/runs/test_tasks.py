"""The tasks of a session in its runs: shared by its agents, once, and there for whoever goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from backend_api.agent.capability import Setup
from backend_api.agent.events import (
    ContextCompacted,
    ContextNote,
    Task,
    TasksUpdated,
    ToolFinished,
    Usage,
)
from backend_api.agent.model import (
    FinishPart,
    TextPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    UsagePart,
)
from backend_api.agent.tasks import (
    NO_TASKS,
    TaskBoard,
    TaskChange,
    changed_by_person,
    with_change,
    with_task,
    without_task,
)
from backend_api.agent.tool import Tool
from backend_api.agent.tools.local import LocalTools
from backend_api.agent.tools.task import TaskTool
from backend_api.agent.tools.tasks import task_tools
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.conversations.application.mirror_tasks import MAX_FILES, MirrorTasks
from backend_api.kit.ids import SessionId
from support.acting import Acting, call, hand_on, looking, taken_over_at
from support.backend_stores import ANNA
from support.memory.sandboxes import MemorySandboxes, MemoryWorkspace
from support.scripted import SCRIPTED, HandlerBox, Script, ScriptedModel
from support.stage import Stage, worker_for, working

STOP, CALLS = FinishPart("stop"), FinishPart("tool_calls")
DONE: Script = [TextPart("Done."), STOP]
LIST: tuple[str, dict[str, Any]] = ("task_list", {})


class Box(HandlerBox):
    """Those of tasks, `task`, and one that looks."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        own = [*task_tools(), *await TaskTool().tools(setup)]
        return [*own, *await looking().tools(setup), *await super().tools(setup)]


def calls(*wanted: tuple[str, dict[str, Any]], used: int = 0) -> Script:
    usage = [UsagePart(Usage(input=used, output=1))] if used else []
    requests = [ToolRequest(call_id=f"x{at}", name=name, arguments=given) for at, (name, given) in enumerate(wanted)]
    return [*usage, *map(ToolCallPart, requests), CALLS]


def create(subject: str) -> tuple[str, dict[str, Any]]:
    return "task_create", {"subject": subject}


def update(task_id: str, **given: Any) -> tuple[str, dict[str, Any]]:
    return "task_update", {"taskId": task_id, **given}


def results(model: ScriptedModel) -> list[str]:
    return [turn.output for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


def last(stage: Stage, session: SessionId) -> list[tuple[str, str, str]]:
    told = max(stage.payloads(session, TasksUpdated), key=lambda one: one.version)
    return [(task.id, task.subject, task.status) for task in told.tasks]


async def test_calls_of_one_answer_each_go_on_from_the_one_before() -> None:
    stage = Stage()
    model = ScriptedModel(
        calls(create("Dig"), create("Plant"), update("2", addBlockedBy=["1"]), update("2", status="in_progress"), LIST),
        calls(update("1", status="completed"), update("7"), LIST, ("task_get", {"taskId": "2"})),
        DONE,
    )
    async with working(worker_for(stage, model, Box())):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "plant a tree"))
    read = results(model)
    assert read[:2] == ["Created task 1: Dig", "Created task 2: Plant"]
    assert read[3].startswith("Nothing was changed: task 2 is blocked by 1, to be completed first.")
    assert read[4] == "The tasks are:\n1. [pending] Dig\n2. [pending] Plant - blocked by 1"
    assert read[5] == "Updated task 1. No longer blocked: 2."
    assert read[6] == "Nothing was changed: there is no task '7'. Tasks: 1, 2."
    assert read[7] == "The tasks are:\n1. [completed] Dig\n2. [pending] Plant"
    whole = json.loads(read[8])
    assert (whole["blockedBy"], whole["openBlockers"], whole["activeForm"]) == (["1"], [], "")
    assert [one.version for one in stage.payloads(session, TasksUpdated)] == [1, 2, 3, 4]


async def test_whoever_takes_the_run_over_after_any_event_comes_to_the_same_tasks() -> None:
    script = [calls(create("Dig"), create("Plant")), calls(update("1", status="completed")), DONE]
    stage, model = Stage(), ScriptedModel(*script)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Box())):
        await stage.until_finished(await stage.say(session, "go"))
    whole = last(stage, session)
    end = max(event.seq or 0 for event in stage.events(session) if isinstance(event.payload, TasksUpdated))
    for cut_at in range(3, end + 1):
        other, session = await taken_over_at(cut_at, script, Box())
        assert last(other, session) == whole, f"each change once, cut at {cut_at}"


async def test_agents_below_share_them_and_none_loses_what_another_changed() -> None:
    names = [f"part {number}" for number in range(6)]

    def child(task: str, number: int) -> list[Any]:
        if number == 0:
            return [call("task_create", subject=task), CALLS]
        return [call("task_list"), CALLS] if number == 1 else [TextPart("Found."), STOP]

    def main(number: int) -> list[Any]:
        if number == 0:
            return [call("task_create", subject="all of it"), CALLS]
        if number == 1:
            return hand_on(*names, kind="explore")(0)
        return [call("task_list"), CALLS] if number == 2 else [TextPart("Done."), STOP]

    stage, model = Stage(), Acting(main, child)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Box())):
        await stage.until_finished(await stage.say(session, "go"))
    read = [turn.output for turn in model.of(None)[-1].turns if isinstance(turn, ToolTurn)][-1]
    assert sorted(line.partition("] ")[2] for line in read.splitlines()[1:]) == ["all of it", *names]
    assert [task_id for task_id, *_ in last(stage, session)] == [str(number) for number in range(1, 8)]
    seen = [turn.output for turn in model.of(names[0])[-1].turns if isinstance(turn, ToolTurn)]
    assert "1. [pending] all of it" in seen[-1]


async def test_what_was_cut_before_it_was_recorded_has_changed_nothing() -> None:
    stage, mirroring = Stage(), asyncio.Event()

    async def mirror(*_: Any) -> None:
        mirroring.set()
        await asyncio.Event().wait()

    model = ScriptedModel(calls(create("dig")), calls(LIST), DONE)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, LocalTools(task_tools(mirror)))):
        run = await stage.say(session, "go")
        await mirroring.wait()
        await stage.say(session, "stop that, what is there?", interrupt=True)
        await stage.until_finished(run)
    assert stage.payloads(session, TasksUpdated) == []
    assert results(model)[-1] == "There are no tasks."


async def test_they_stand_in_the_summary_as_they_were_recorded() -> None:
    summary: Script = [UsagePart(Usage(input=720, output=10)), TextPart("They want a tree."), STOP]
    model = ScriptedModel(
        calls(create("Dig"), update("1", owner="me"), used=300),
        calls(("look", {"what": "it"}), used=3_500),
        summary,
        calls(LIST, used=300),
        DONE,
    )
    stage = Stage()
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Box(), info=replace(SCRIPTED, context_window=5_000))):
        await stage.until_finished(await stage.say(session, "plant a tree"))
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert compacted.summary.endswith("They want a tree.\n\nThe tasks are:\n1. [pending] Dig (me)")
    assert results(model)[-1] == "The tasks are:\n1. [pending] Dig (me)"


async def test_arguments_that_do_not_fit_are_told_by_name_and_change_nothing() -> None:
    stage = Stage()
    wrong: list[tuple[str, dict[str, Any]]] = [
        create(""),
        create("two\nlines"),
        update("1", status="half"),
        update("1", metadata={"n": float("nan")}),
        update("1", metadata={"n": 10**400}),
        update("1", metadata={"in": {"depth": 1}}),
        ("task_create", {"subject": "a", "owner": "b"}),
        ("task_get", {}),
    ]
    model = ScriptedModel(calls(create("Dig"), *wrong), DONE)
    async with working(worker_for(stage, model, Box())):
        session = await stage.open_session(title="named")
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    assert [one.success for one in stage.payloads(session, ToolFinished)] == [True, *[False] * len(wrong)]
    assert len(stage.payloads(session, TasksUpdated)) == 1


async def test_each_stands_in_a_file_as_it_is_as_soon_as_there_is_a_computer() -> None:
    sandboxes, workspace, board, session = MemorySandboxes(), MemoryWorkspace(), TaskBoard(), SessionId("s")
    mirror = MirrorTasks(AgentFiles(sandboxes, workspace))
    board.change(lambda known: with_task(known, Task(id="", subject="Dig \u4f60")))
    await mirror(session, ANNA, board)
    assert (await sandboxes.status(session)).status not in ("ready", "starting"), "none is started for it"
    sandbox = await sandboxes.ensure(session, ANNA)

    async def read(task_id: str) -> dict[str, Any]:
        async with workspace.download(sandbox, f".tasks/task_{task_id}.json") as download:
            return json.loads(b"".join([chunk async for chunk in download.chunks]))

    board.change(lambda known: with_task(known, Task(id="", subject="Plant")))
    await mirror(session, ANNA, board)
    assert [(await read(task_id))["subject"] for task_id in ("1", "2")] == ["Dig \u4f60", "Plant"]
    board.change(lambda known: without_task(known, "1"))
    await mirror(session, ANNA, board)
    assert [(await read(task_id))["status"] for task_id in ("1", "2")] == ["deleted", "pending"]


async def test_more_files_than_an_upload_takes_are_written_by_and_by() -> None:
    sandboxes, workspace, board, session = MemorySandboxes(), MemoryWorkspace(), TaskBoard(), SessionId("s")
    mirror = MirrorTasks(AgentFiles(sandboxes, workspace))
    sandbox = await sandboxes.ensure(session, ANNA)
    for _ in range(MAX_FILES):
        board.change(lambda known: with_task(known, Task(id="", subject="part")))
    await mirror(session, ANNA, board)
    assert len(board.mirrored) == MAX_FILES
    for number in range(MAX_FILES):
        board.change(lambda known, one=str(number + 1): without_task(known, one))
    for _ in range(2):
        board.change(lambda known: with_task(known, Task(id="", subject="new")))
    await mirror(session, ANNA, board)
    await mirror(session, ANNA, board)
    assert sorted(board.mirrored) == ["101", "102"]
    async with workspace.download(sandbox, ".tasks/task_100.json") as download:
        assert json.loads(b"".join([chunk async for chunk in download.chunks]))["status"] == "deleted"


async def test_a_file_that_can_not_be_written_is_written_with_the_next_change() -> None:
    sandboxes, board, session = MemorySandboxes(), TaskBoard(), SessionId("s")
    await sandboxes.ensure(session, ANNA)
    board.change(lambda known: with_task(known, Task(id="", subject="Dig")))
    await MirrorTasks(AgentFiles(sandboxes, MemoryWorkspace(max_bytes=10)))(session, ANNA, board)
    assert board.mirrored == {}
    await MirrorTasks(AgentFiles(sandboxes, MemoryWorkspace()))(session, ANNA, board)
    assert list(board.mirrored) == ["1"]


def edit(stage: Stage, session: SessionId, change: Callable[[TasksUpdated], TasksUpdated]) -> None:
    """As the person does it, on what is recorded."""
    told = stage.payloads(session, TasksUpdated)
    known = max(told, key=lambda one: one.version, default=NO_TASKS)
    stage.store.store(stage.store.sessions[session], None, [changed_by_person(known, change)])


async def test_a_change_of_the_person_in_the_middle_of_a_run_is_not_lost_and_its_model_reads_of_it() -> None:
    stage, edits = Stage(), list[Callable[[TasksUpdated], TasksUpdated]]()

    async def mirror(*_: Any) -> None:
        # The change of the call is made and not recorded yet.
        if edits:
            edit(stage, session, edits.pop())

    model = ScriptedModel(
        calls(create("Dig"), create("Plant")),
        calls(update("1", status="completed"), create("Water")),
        calls(LIST),
        DONE,
    )
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, LocalTools(task_tools(mirror)))):
        edits.append(lambda known: with_task(known, Task(id="", subject="Ask the neighbour")))
        await stage.until_finished(await stage.say(session, "go"))
    told = stage.payloads(session, TasksUpdated)
    assert sorted(one.version for one in told) == [one.version for one in told], "no version twice"
    assert {subject for _, subject, _ in last(stage, session)} == {"Ask the neighbour", "Dig", "Plant", "Water"}
    (note,) = [one for one in stage.payloads(session, ContextNote) if one.kind == "tasks"]
    assert "- added task 1: Ask the neighbour" in note.text
    assert "[pending] Dig" in note.text


async def test_what_the_person_ticked_off_between_runs_is_read_once_and_begins_none() -> None:
    stage = Stage()
    model = ScriptedModel(calls(create("Dig")), DONE, DONE, DONE)
    session = await stage.open_session(title="named")
    async with working(worker_for(stage, model, Box())):
        await stage.until_finished(await stage.say(session, "go"))
        edit(stage, session, lambda known: with_change(known, "1", TaskChange(status="completed")))
        await stage.until_finished(await stage.say(session, "and now?"))
        await stage.until_finished(await stage.say(session, "and then?"))
    notes = [one.text for one in stage.payloads(session, ContextNote) if one.kind == "tasks"]
    assert len(notes) == 1
    assert "- set task 1 to completed: Dig" in notes[0]
