"""Programs are started in groups of their own, bounded, and ended as a whole."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from service_kit.programs import (
    BoundedOutput,
    Program,
    ProgramStart,
    Tail,
    TooMuchOutputError,
    run_program,
    running_program,
    start_program,
)
from support.endpoint import await_true, processes_with
from tool_api.programs.modules import module_command

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def shell(script: str, *, stdin: int = DEVNULL, stderr: int = DEVNULL) -> ProgramStart:
    return ProgramStart(command=("bash", "-c", script), environment=ENVIRONMENT, stdin=stdin, stderr=stderr)


async def test_what_a_program_writes_is_its_output_with_its_exit_code() -> None:
    output = await run_program(shell("cat; exit 3", stdin=PIPE), within_s=30, max_bytes=100, text=b"given")
    assert (output.data, output.exit_code) == (b"given", 3)


async def test_a_program_over_its_time_ends_with_all_of_its_group() -> None:
    with pytest.raises(TimeoutError):
        await run_program(shell("sleep 63.125 & sleep 63.125"), within_s=0.3, max_bytes=100)
    await_true(lambda: processes_with("sleep 63.125") == [])


async def test_a_program_that_writes_too_much_is_ended() -> None:
    with pytest.raises(TooMuchOutputError):
        await run_program(shell("yes 64.125"), within_s=30, max_bytes=1000)
    await_true(lambda: processes_with("yes 64.125") == [])


async def test_a_program_whose_output_nobody_reads_is_ended() -> None:
    program = await start_program(shell("yes 66.125"))
    # Until what it wrote fills the buffers, and the loop reads no more.
    await asyncio.sleep(0.3)
    async with asyncio.timeout(20):
        await program.end()
    assert program.exit_code == -signal.SIGKILL


async def test_an_end_is_noticed_while_a_child_of_it_keeps_its_output_open() -> None:
    async with running_program(shell("setsid sleep 67.125 & exit 5")) as program, asyncio.timeout(20):
        assert await program.wait() == 5
    for pid in processes_with("sleep 67.125"):
        os.kill(pid, signal.SIGKILL)


async def test_a_cancelled_call_ends_its_program() -> None:
    call = asyncio.create_task(run_program(shell("echo; sleep 65.125"), within_s=30, max_bytes=100))
    while not processes_with("sleep 65.125"):
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await_true(lambda: processes_with("sleep 65.125") == [])


async def test_a_program_gets_time_to_end_by_itself_even_where_it_is_stopped() -> None:
    async with running_program(shell("trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done")) as program:
        await program.output.readline()
        program.send_signal(signal.SIGSTOP)
        await program.end(grace_s=30)
        assert program.exit_code == 7


async def test_of_bounded_output_what_was_read_stays_when_time_is_over() -> None:
    output = BoundedOutput(100)

    async def read(program: Program) -> None:
        async with asyncio.timeout(0.5):
            await output.read(program.output)

    async with running_program(shell("echo said; sleep 60")) as program:
        await program.output.readuntil(b"s")
        with pytest.raises(TimeoutError):
            await read(program)
    assert output.data == b"aid\n"


async def test_of_a_tail_the_last_bytes_are_kept_and_no_writer_waits() -> None:
    async with running_program(shell("head -c 1000000 /dev/zero | tr '\\0' x; echo last >&2", stderr=PIPE)) as program:
        output, errors = Tail(program.output, 10), Tail(program.errors, 10)
        assert await program.wait() == 0
        for tail in (output, errors):
            await tail.wait(30)
        assert (output.text, errors.text) == ("x" * 10, "last\n")


async def test_a_module_of_ours_runs_apart_from_what_lies_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('not ours')")
    start = ProgramStart(command=module_command("tool_api.tools.files.search_process", "^a$", ".", ""), folder=tmp_path)
    (tmp_path / "found").write_text("a\n")
    output = await run_program(start, within_s=60, max_bytes=1000)
    assert (output.data, output.exit_code) == (b"./found\x001:a\n", 0)
