from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
from pathlib import Path

import pytest

from tool_api.tools.shell import bash as module
from tool_api.tools.shell.bash import Bash, ShellState
from tool_api.tools.shell.command import Command


def end_unheard(pid: int) -> None:
    """Without giving the event loop a turn, in which it would hear of it."""
    os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


async def test_a_command_whose_bash_ended_in_that_moment_is_aborted() -> None:
    bash = await Bash.start_shell(ShellState(folder="/"), {"PATH": os.environ["PATH"]})
    command = Command("sleep 60", "/")
    bash.run_command(command)
    end_unheard(bash.pid)
    assert bash.is_alive
    assert not await bash.abort()
    assert command.is_finished
    assert not bash.is_alive


async def test_the_end_of_an_output_that_comes_late_ends_no_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a busy machine where bash waits for a processor between telling its status and ending the output."""
    until = f"until [[ -e {tmp_path}/go ]]; do sleep 0.01; done"
    late = module._REPORT.replace("  printf '\\036", f"  {until}; printf '\\036")
    assert late != module._REPORT
    monkeypatch.setattr(module, "_REPORT", late)
    bash = await Bash.start_shell(ShellState(folder="/"), {"PATH": os.environ["PATH"], "PS1": ""})
    first, second = Command("echo first", "/"), Command("echo second", "/")
    bash.run_command(first)
    assert await first.wait(30)

    bash.run_command(second)
    (tmp_path / "go").touch()

    assert await second.wait(30)
    assert (first.output, second.output) == ("first\n", "second\n")
    await bash.close()


class Counted(Command):
    """Counts what it was given, and how much of it within one turn of the event loop."""

    size = in_turn = most_in_turn = 0

    def add_output(self, text: str) -> None:
        if self.in_turn == 0:
            asyncio.get_running_loop().call_soon(self.end_turn)
        self.size += len(text)
        self.in_turn += len(text)
        self.most_in_turn = max(self.most_in_turn, self.in_turn)
        super().add_output(text)

    def end_turn(self) -> None:
        self.in_turn = 0


async def test_of_programs_that_write_for_ever_a_bounded_part_is_read_at_once_when_their_bash_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left() -> tuple[int, int]:
        raise OSError(errno.ENOSPC, "no terminals")

    # On a terminal they would be cut off from it.
    monkeypatch.setattr(os, "openpty", none_left)
    bash = await Bash.start_shell(ShellState(folder="/"), {"PATH": os.environ["PATH"]})
    assert not bash.has_terminal
    command = Counted("for i in 1 2 3 4 5 6; do timeout 4 yes & done; wait", "/")
    bash.run_command(command)
    while command.size < 20_000_000:
        assert not command.is_finished
        assert await command.wait_for_output(5)
    end_unheard(bash.pid)
    assert await command.wait(2)
    await bash.close()
    assert command.most_in_turn < 200_000
