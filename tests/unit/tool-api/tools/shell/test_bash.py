from __future__ import annotations

import contextlib
import os
import signal

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
