"""Commands in the background, over the real endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from pathlib import Path

from contracts.tools import ShellDisplay, ToolResult
from support.endpoint import RunningEndpoint, await_true, processes_with
from tool_api.calls import Calls
from tool_api.tools.background.commands import MAX_KEPT, BackgroundCommands
from tool_api.tools.background.controller import BackgroundController
from tool_api.tools.background.tools import background_tools
from tool_api.tools.background.types import BackgroundRun
from tool_api.tools.tool import CallContext


def state_of(result: ToolResult) -> str | None:
    assert isinstance(result.display, ShellDisplay)
    return result.display.background


def started(endpoint: RunningEndpoint, command: str, **more: object) -> str:
    result = endpoint.call("background_run", command=command, **more)
    assert result.success, result.output
    assert isinstance(result.display, ShellDisplay)
    return result.display.shell


def test_one_answers_at_once_and_tells_later_how_it_ended(endpoint: RunningEndpoint) -> None:
    began = time.monotonic()
    background_id = started(endpoint, "echo first; sleep 1; echo second; (exit 3)")
    assert time.monotonic() - began < 0.9
    await_true(lambda: "first" in endpoint.call("check_background", background_id=background_id).output)
    running = endpoint.call("check_background", background_id=background_id)
    assert state_of(running) == "running"
    assert "still running" in running.output
    ended = endpoint.call("check_background", background_id=background_id, wait_s=10)
    assert (ended.success, state_of(ended)) == (True, "ended")
    assert ended.output == "first\nsecond\n[exit code 3]"


def test_an_id_that_is_in_use_starts_nothing_again(endpoint: RunningEndpoint) -> None:
    for _ in range(2):
        started(endpoint, "echo once >> started_once", background_id="same")
    endpoint.call("check_background", background_id="same", wait_s=10)
    assert (endpoint.workspace / "started_once").read_text() == "once\n"


def test_the_time_out_ends_it_with_all_it_started(endpoint: RunningEndpoint, seconds: str) -> None:
    background_id = started(
        endpoint, f"echo so far; setsid sleep {seconds} & (trap '' TERM; sleep {seconds}); sleep {seconds}", timeout_s=1
    )
    ended = endpoint.call("check_background", background_id=background_id, wait_s=10)
    assert state_of(ended) == "timed_out"
    assert "so far" in ended.output
    assert processes_with(f"sleep {seconds}") == []


def test_a_stop_ends_it_with_all_it_started_and_the_shells_go_on(endpoint: RunningEndpoint, seconds: str) -> None:
    background_id = started(endpoint, f"setsid sleep {seconds} & sleep {seconds}")
    await_true(lambda: len(processes_with(f"sleep {seconds}")) == 2)
    assert endpoint.call("shell_exec", command="echo beside it").output == "beside it\n"
    stopped = endpoint.call("background_stop", background_id=background_id)
    assert state_of(stopped) == "stopped"
    assert processes_with(f"sleep {seconds}") == []
    assert state_of(endpoint.call("background_stop", background_id=background_id)) == "stopped"


def test_what_it_left_running_ends_with_it(endpoint: RunningEndpoint, seconds: str) -> None:
    background_id = started(endpoint, f"setsid sleep {seconds} & echo away")
    assert state_of(endpoint.call("check_background", background_id=background_id, wait_s=10)) == "ended"
    assert processes_with(f"sleep {seconds}") == []


def test_there_may_be_so_many_and_no_more_until_one_has_ended(endpoint: RunningEndpoint, seconds: str) -> None:
    ids = [started(endpoint, f"sleep {seconds}") for _ in range(8)]
    refused = endpoint.call("background_run", command="true")
    assert not refused.success
    assert ids[0] in refused.output
    for background_id in ids:
        endpoint.call("background_stop", background_id=background_id)
    assert endpoint.call("background_run", command="true").success


def test_one_that_there_is_not_is_unknown(endpoint: RunningEndpoint) -> None:
    for tool in ("check_background", "background_stop"):
        result = endpoint.call(tool, background_id="nobody")
        assert (result.success, state_of(result)) == (False, "unknown")


async def test_what_ended_last_is_kept_however_long_ago_it_began(tmp_path: Path) -> None:
    async with BackgroundCommands(tmp_path, lambda: {"PATH": "/usr/bin:/bin"}) as commands:
        first = await commands.start_command("first", "read -t 60 < <(sleep 60)", 60)
        for number in range(MAX_KEPT):
            one = await commands.start_command(f"bg_{number}", "true", 60)
            assert await one.wait(10)
        await first.stop()
        await (await commands.start_command("last", "true", 60)).wait(10)
        await commands.start_command("next", "true", 60)
        assert commands.find("first") is first
        assert commands.find("bg_0") is None


async def test_a_start_that_nobody_waits_for_to_its_end_leaves_nothing_running(tmp_path: Path) -> None:
    async def unheard(_: object) -> None:
        """Nothing is written before it has begun."""

    async with BackgroundCommands(tmp_path, lambda: {"PATH": "/usr/bin:/bin"}) as commands:
        controller = BackgroundController(commands=commands, allowed=frozenset())
        call = CallContext(call_id="c", deadline=time.monotonic() + 15, write_output=unheard)
        asked = BackgroundRun(background_id="bg_1", command="sleep 97.25", timeout_s=60)
        starting = asyncio.create_task(controller.start_command(call, asked))
        await asyncio.sleep(0)
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await starting
        async with asyncio.timeout(10):
            while (one := commands.find("bg_1")) is None or one.is_running:
                await asyncio.sleep(0.02)
    assert processes_with("sleep 97.25") == []


async def test_a_start_that_takes_longer_than_its_call_may_is_told_as_failed_and_ends(tmp_path: Path) -> None:
    async with BackgroundCommands(tmp_path, lambda: {"PATH": "/usr/bin:/bin"}) as commands, Calls() as calls:
        tool = background_tools(BackgroundController(commands=commands, allowed=frozenset()))[0]
        asked = BackgroundRun(background_id="bg_1", command="sleep 97.5", timeout_s=60)
        call = calls.start_call("c", replace(tool, deadline_ms=0), asked)
        result = await call.task
        assert (result.success, "did not finish" in result.output) == (False, True)
        async with asyncio.timeout(10):
            while (one := commands.find("bg_1")) is None or one.is_running:
                await asyncio.sleep(0.02)
    assert one.state == "stopped"
    assert processes_with("sleep 97.5") == []


def test_progress_of_one_is_told_as_it_ended(endpoint: RunningEndpoint) -> None:
    background_id = started(endpoint, r"for i in 1 2 3; do printf '\r\033[K%d of 3' $i; done; echo")
    ended = endpoint.call("check_background", background_id=background_id, wait_s=10)
    assert ended.output == "3 of 3\n[exit code 0]"
    assert ended.raw_output == "".join(f"\r\x1b[K{number} of 3" for number in (1, 2, 3)) + "\n"
