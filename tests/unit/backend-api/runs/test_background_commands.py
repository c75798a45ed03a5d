"""What an agent starts in the background is told to it once, whoever follows it, and ends with a stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from backend_api.agent.capability import Setup
from backend_api.agent.events import (
    BackgroundFinished,
    BackgroundStarted,
    ContextCompacted,
    RunQueued,
    ToolFinished,
    Usage,
)
from backend_api.agent.model import FinishPart, NoteTurn, TextPart, ToolCallPart, ToolRequest, UsagePart
from backend_api.agent.tool import Done, ToolCall
from backend_api.background.application.look_at_command import ANSWERS_WITHIN_S
from backend_api.background.application.watch_commands import WatchCommands
from backend_api.background.domain import BackgroundCommand
from backend_api.background.tools import BackgroundCalls, BackgroundToolSource, background_specs
from backend_api.conversations.domain.entity import RunId, RunStatus
from backend_api.kit.background_tasks import background_task
from backend_api.kit.ids import SessionId
from backend_api.runs.application.run_services import RunOptions
from backend_api.sandboxes.domain.entity import Sandbox, SandboxStatus
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.tools import SandboxToolSource, manifest_tools
from support.memory.background_commands import MemoryBackgroundCommands
from support.memory.sandbox_commands import MemorySandboxCommands
from support.memory.sandboxes import MemorySandboxes
from support.memory.store import utc_now
from support.scripted import ANY, SCRIPTED, ScriptedModel
from support.stage import Stage, until, worker_for, working

SAID = [TextPart("Well."), FinishPart("stop")]


def calling(name: str, **arguments: Any) -> list[Any]:
    return [ToolCallPart(ToolRequest(call_id=f"c_{name}", name=name, arguments=arguments)), FinishPart("tool_calls")]


def tools_of(stage: Stage) -> BackgroundToolSource:
    calls = BackgroundCalls(
        tools=stage.sandbox_commands,
        commands=stage.background,
        look=stage.look_at_command,
        clock=utc_now,
        timeout_s=7,
    )
    specs = background_specs(manifest_tools(), 7)
    return BackgroundToolSource(SandboxToolSource(specs, stage.sandboxes, calls, rebuilt_within_s=0.1))


def keep(stage: Stage, commands: MemoryBackgroundCommands) -> None:
    stage.background = commands
    object.__setattr__(stage.look_at_command, "commands", commands)
    object.__setattr__(stage.stop_commands, "commands", commands)


@asynccontextmanager
async def watched(stage: Stage) -> AsyncGenerator[None]:
    watch = WatchCommands(
        commands=stage.background, look=stage.look_at_command, poll_s=0.01, wait_s=1, lease_s=2, retry_s=0.01
    )
    async with background_task(watch.watch_until_cancelled(), "background"):
        yield


async def begun(stage: Stage, model: ScriptedModel, *, command: str = "make all") -> tuple[SessionId, str]:
    """A session whose agent has started a command and said something."""
    model.go_on_with(calling("background_run", command=command), SAID)
    async with working(worker_for(stage, model, tools_of(stage))):
        session = await stage.open_session()
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "completed"
    (started,) = stage.payloads(session, BackgroundStarted)
    assert (started.command, started.timeout_s) == (command, 7)
    return session, started.background_id


def notes(model: ScriptedModel) -> list[str]:
    found = [turn.text for turn in model.requests[-1].turns if isinstance(turn, NoteTurn)]
    return [text for text in found if "background command" in text]


async def test_it_is_told_the_id_at_once_and_the_result_wakes_the_idle_session_once() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    (result,) = stage.payloads(session, ToolFinished)
    assert background_id in result.preview
    assert notes(model) == []
    stage.sandbox_commands.end(background_id, "built\n[exit code 2]", exit_code=2)
    async with working(worker_for(stage, model, tools_of(stage), name="other")), watched(stage), watched(stage):
        await until(lambda: len(model.requests) == 3)
        await until(lambda: stage.store.sessions[session].session.active_run_id is None)
    (note,) = notes(model)
    assert background_id in note
    assert "exit code 2" in note
    assert "built" in note
    (finished,) = stage.payloads(session, BackgroundFinished)
    assert (finished.state, finished.exit_code, finished.read_by) == ("ended", 2, None)
    assert [queued.cause for queued in stage.payloads(session, RunQueued)] == ["message", "background"]
    assert stage.sandbox_commands.started == ["make all"]


async def test_a_run_at_work_reads_it_before_it_ends() -> None:
    stage, model = Stage(), ScriptedModel(SAID)

    async def ends() -> None:
        (command,) = await stage.background.of_session(session, ended=1)
        stage.sandbox_commands.end(command.id, "built")
        await until(lambda: bool(stage.payloads(session, BackgroundFinished)))

    model.go_on_with(calling("background_run", command="make"), [ends, *SAID], SAID)
    async with working(worker_for(stage, model, tools_of(stage))), watched(stage):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    assert len(model.requests) == 3
    assert "built" in notes(model)[0]
    assert [queued.cause for queued in stage.payloads(session, RunQueued)] == ["message"]


async def test_what_a_look_has_told_is_not_told_again() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    stage.sandbox_commands.end(background_id, "built")
    model.go_on_with(calling("check_background", background_id=background_id), SAID)
    async with working(worker_for(stage, model, tools_of(stage))):
        await stage.until_finished(await stage.say(session, "well?"))
    (*_, told) = stage.payloads(session, ToolFinished)
    assert "built" in told.preview
    assert notes(model) == []
    model.go_on_with(calling("check_background", background_id=background_id), SAID)
    async with working(worker_for(stage, model, tools_of(stage))):
        await stage.until_finished(await stage.say(session, "again?"))
    (*_, again) = stage.payloads(session, ToolFinished)
    assert again.preview == "built\n[ended, exit code 0; this was already reported to you]"
    other, later_id = await begun(stage, model)
    stage.sandbox_commands.end(later_id, "built later")
    async with watched(stage):
        # Who finds that one has looked at all that there is to look at.
        await until(lambda: bool(stage.payloads(other, BackgroundFinished)))
    (finished,) = stage.payloads(session, BackgroundFinished)
    assert finished.read_by == told.call_id
    assert [queued.cause for queued in stage.payloads(session, RunQueued)] == ["message"] * 3


async def test_one_that_there_is_not_is_told_with_those_there_are() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    model.go_on_with(calling("background_stop", background_id="bg_x"), SAID)
    async with working(worker_for(stage, model, tools_of(stage))):
        await stage.until_finished(await stage.say(session, "stop it"))
    last = stage.payloads(session, ToolFinished)[-1]
    assert not last.success
    assert background_id in last.preview


async def test_a_start_that_was_cut_off_is_followed_and_the_command_runs_once() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    keep(stage, MemoryBackgroundCommands(stage.store, starts_within_s=0.05))
    stage.sandbox_commands.loses_starts = True
    model.go_on_with(calling("background_run", command="make"), SAID)
    async with working(worker_for(stage, model, tools_of(stage))), watched(stage):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
        assert "may have happened" in stage.payloads(session, ToolFinished)[0].preview
        (command,) = await stage.background.of_session(session, ended=1)
        stage.sandbox_commands.end(command.id, "built")
        await until(lambda: bool(notes(model)))
    assert stage.sandbox_commands.started == ["make"]


async def test_a_watcher_that_is_ended_leaves_what_it_held_to_the_next_at_once() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    looks = stage.sandbox_commands.calls
    asked = len(looks)
    async with background_task(
        WatchCommands(commands=stage.background, look=stage.look_at_command).watch_until_cancelled(), "background"
    ):
        await until(lambda: len(looks) > asked)
    stage.sandbox_commands.end(background_id, "built")
    async with watched(stage):
        await until(lambda: bool(stage.payloads(session, BackgroundFinished)), within_s=2)


def test_a_claim_lasts_longer_than_a_look_and_no_longer_than_that_of_a_run() -> None:
    watch = WatchCommands(commands=Stage().background, look=Stage().look_at_command)
    assert watch.wait_s + ANSWERS_WITHIN_S < watch.lease_s <= RunOptions().lease_s


async def test_one_that_never_began_leaves_nothing() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    stage.sandbox_commands.fault = lambda: SandboxUnavailableError("It is closed.")
    model.go_on_with(calling("background_run", command="make"), SAID)
    async with working(worker_for(stage, model, tools_of(stage))):
        session = await stage.open_session()
        await stage.until_finished(await stage.say(session, "go"))
    assert await stage.background.of_session(session, ended=9) == []
    assert stage.payloads(session, BackgroundStarted) == []


@pytest.mark.parametrize("how", ["gone", "rebuilt", "forgotten", "overdue"])
async def test_one_whose_computer_is_gone_is_lost_and_told_so(how: str) -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    match how:
        case "gone":
            await stage.sandboxes.end(session)
        case "rebuilt":
            stage.sandboxes.living[session] = replace(stage.sandboxes.living[session], generation=2)
        case "forgotten":
            stage.sandbox_commands.forget(background_id)
        case _:
            object.__setattr__(stage.look_at_command, "clock", lambda: utc_now() + timedelta(hours=25))
    async with working(worker_for(stage, model, tools_of(stage))), watched(stage):
        await until(lambda: bool(notes(model)))
    (finished,) = stage.payloads(session, BackgroundFinished)
    assert (finished.state, finished.exit_code) == ("lost", None)
    assert "lost with the computer" in notes(model)[0]


async def test_one_whose_computer_can_not_be_asked_for_hours_is_not_lost() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    object.__setattr__(stage.look_at_command, "clock", lambda: utc_now() + timedelta(hours=23))
    stage.sandbox_commands.fault = lambda: SandboxUnavailableError("The manager is away.")
    (command,) = await stage.background.of_session(session, ended=1)
    with pytest.raises(SandboxUnavailableError):
        await stage.look_at_command(command)
    stage.sandbox_commands.fault = None
    stage.sandbox_commands.end(background_id, "built")
    await stage.look_at_command(command)
    assert stage.payloads(session, BackgroundFinished)[0].state == "ended"


async def test_what_is_told_by_itself_while_a_call_looks_is_not_told_by_that_as_well() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)

    class ToldMeanwhile(MemorySandboxCommands):
        """Whoever watches tells of it between the answer to the call and what is made of that."""

        async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
            outcome = await stage.sandbox_commands.call(sandbox, call)
            await stage.look_at_command(await stage.background.get(session, background_id))
            return outcome

    calls = BackgroundCalls(tools=ToldMeanwhile(), commands=stage.background, look=stage.look_at_command, clock=utc_now)
    source = SandboxToolSource(background_specs(manifest_tools(), 7), stage.sandboxes, calls, rebuilt_within_s=0.1)
    stage.sandbox_commands.end(background_id, "built")
    model.go_on_with(calling("background_stop", background_id=background_id), SAID)
    async with working(worker_for(stage, model, BackgroundToolSource(source))):
        await stage.until_finished(await stage.say(session, "stop it"))
    result = stage.payloads(session, ToolFinished)[-1]
    assert result.preview == "[ended, exit code 0; its output is reported to you automatically]"
    assert ["built" in note for note in notes(model)] == [True]


async def test_a_stop_ends_what_runs_also_of_an_idle_session_and_wakes_nobody() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    await stage.stop(session)
    (finished,) = stage.payloads(session, BackgroundFinished)
    assert (finished.background_id, finished.state) == (background_id, "stopped")
    assert stage.store.sessions[session].session.active_run_id is None
    model.go_on_with(SAID)
    async with working(worker_for(stage, model, tools_of(stage))):
        await stage.until_finished(await stage.say(session, "what became of it?"))
    assert "was stopped" in notes(model)[0]


async def test_a_late_stop_of_one_run_leaves_what_runs_since() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, _ = await begun(stage, model)
    await stage.stop(session, RunId("another"))
    assert stage.payloads(session, BackgroundFinished) == []


async def test_a_stop_that_does_not_reach_the_computer_is_made_good_by_who_watches() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, _ = await begun(stage, model)
    stage.sandbox_commands.fault = lambda: SandboxUnavailableError("It does not answer.")
    await stage.stop(session)
    assert stage.payloads(session, BackgroundFinished) == []
    stage.sandbox_commands.fault = None
    async with watched(stage):
        await until(lambda: bool(stage.payloads(session, BackgroundFinished)))
    assert stage.payloads(session, BackgroundFinished)[0].state == "stopped"


async def test_a_stop_of_the_run_at_work_ends_what_it_started() -> None:
    stage, model = Stage(), ScriptedModel(SAID)

    async def stops() -> None:
        await stage.stop(session)
        await until(lambda: False, within_s=5)

    model.go_on_with(calling("background_run", command="make"), [TextPart("Now"), stops])
    async with working(worker_for(stage, model, tools_of(stage))):
        session = await stage.open_session()
        run_id = await stage.say(session, "go")
        assert (await stage.until_finished(run_id)).status == "stopped"
        await until(lambda: bool(stage.payloads(session, BackgroundFinished)))
    assert stage.payloads(session, BackgroundFinished)[0].state == "stopped"
    assert stage.run(run_id).status == RunStatus.STOPPED


class _StoppedBefore(MemoryBackgroundCommands):
    """The session is stopped just before the first record."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.store)
        self._stage = stage

    async def begin(self, command: BackgroundCommand) -> None:
        await self._stage.stop(command.session_id)
        await super().begin(command)


async def test_a_stop_that_comes_before_the_record_ends_the_command_all_the_same() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    keep(stage, _StoppedBefore(stage))
    model.go_on_with(calling("background_run", command="make"), SAID)
    async with working(worker_for(stage, model, tools_of(stage))), watched(stage):
        session = await stage.open_session()
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "stopped"
        await until(lambda: bool(stage.payloads(session, BackgroundFinished)))
    assert stage.payloads(session, BackgroundFinished)[0].state == "stopped"
    assert [queued.cause for queued in stage.payloads(session, RunQueued)] == ["message"]


@pytest.mark.parametrize("is_known", [True, False], ids=["begun", "never begun"])
async def test_a_start_that_a_stop_cuts_off_is_ended_at_once_and_wakes_nobody(*, is_known: bool) -> None:
    stage, model = Stage(), ScriptedModel(SAID)

    async def never_answers() -> None:
        if not is_known:
            stage.sandbox_commands.forget(str(stage.sandbox_commands.calls[-1].arguments["background_id"]))
        await stage.stop(session)
        await asyncio.Event().wait()

    stage.sandbox_commands.after_start = never_answers
    model.go_on_with(calling("background_run", command="make"), SAID)
    async with working(worker_for(stage, model, tools_of(stage))), watched(stage):
        session = await stage.open_session()
        assert (await stage.until_finished(await stage.say(session, "go"))).status == "stopped"
        await until(lambda: bool(stage.payloads(session, BackgroundFinished)), within_s=5)
    assert stage.payloads(session, BackgroundFinished)[0].state == ("stopped" if is_known else "lost")
    assert [queued.cause for queued in stage.payloads(session, RunQueued)] == ["message"]


async def test_a_start_that_a_message_cuts_off_is_ended_at_once() -> None:
    stage, model = Stage(), ScriptedModel(SAID)

    async def never_answers() -> None:
        await stage.say(session, "no, wait", interrupt=True)
        await asyncio.Event().wait()

    stage.sandbox_commands.after_start = never_answers
    model.go_on_with(calling("background_run", command="make"), SAID, SAID)
    async with working(worker_for(stage, model, tools_of(stage))), watched(stage):
        session = await stage.open_session()
        await stage.say(session, "go")
        await until(lambda: bool(stage.payloads(session, BackgroundFinished)), within_s=5)
    assert stage.payloads(session, BackgroundFinished)[0].state == "stopped"


async def test_a_paused_computer_is_left_alone_until_it_goes_on() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    stage.sandbox_commands.calls.clear()
    stage.sandbox_commands.end(background_id, "built")

    class Paused(MemorySandboxes):
        async def status(self, session_id: str) -> SandboxStatus:
            del session_id
            return SandboxStatus(status="paused")

    object.__setattr__(stage.look_at_command, "sandboxes", Paused())
    (command,) = await stage.background.of_session(session, ended=1)
    assert await stage.look_at_command(command) is None
    assert stage.sandbox_commands.calls == []
    object.__setattr__(stage.look_at_command, "sandboxes", stage.sandboxes)
    await stage.look_at_command(command)
    assert stage.payloads(session, BackgroundFinished)[0].state == "ended"


async def test_what_it_wrote_is_bounded_for_the_model_and_whole_beside_the_event() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    session, background_id = await begun(stage, model)
    stage.sandbox_commands.end(background_id, "x" * 100_000)
    async with working(worker_for(stage, model, tools_of(stage))), watched(stage):
        await until(lambda: bool(notes(model)))
    (finished,) = stage.payloads(session, BackgroundFinished)
    assert len(finished.preview) <= 2_000
    assert finished.body is not None
    assert finished.body.size == 100_000
    assert 15_000 < len(notes(model)[0]) < 17_000


async def test_what_runs_stands_beside_a_summary() -> None:
    stage = Stage()
    summary = [UsagePart(Usage(input=720, output=10)), TextPart("They want it built."), FinishPart("stop")]
    first = [UsagePart(Usage(input=3_500, output=1)), *calling("background_run", command="make all")]
    model = ScriptedModel(first, summary, SAID)
    async with working(worker_for(stage, model, tools_of(stage), info=replace(SCRIPTED, context_window=5_000))):
        session = await stage.open_session(title="named")
        await stage.until_finished(await stage.say(session, "build"))
    (compacted,) = stage.payloads(session, ContextCompacted)
    assert "make all" in compacted.summary
    assert stage.payloads(session, BackgroundStarted)[0].background_id in compacted.summary


async def test_only_the_agent_that_the_person_talks_to_has_them_and_gives_no_id() -> None:
    source = tools_of(Stage())
    found = {tool.spec.name: tool.spec for tool in await source.tools(ANY)}
    assert set(found) == {"background_run", "check_background", "background_stop"}
    properties = found["background_run"].parameters["properties"]
    assert set(properties) == {"command", "timeout_s"}
    assert properties["timeout_s"]["default"] == 7
    assert (found["background_run"].effect, found["check_background"].waits) == ("writes", True)
    assert await source.tools(Setup(now=utc_now, kind="general")) == []


async def test_one_of_another_session_is_not_found() -> None:
    stage, model = Stage(), ScriptedModel(SAID)
    _, background_id = await begun(stage, model)
    model.go_on_with(calling("check_background", background_id=background_id), SAID)
    async with working(worker_for(stage, model, tools_of(stage))):
        other = await stage.open_session()
        await stage.until_finished(await stage.say(other, "look"))
    assert not stage.payloads(other, ToolFinished)[0].success
