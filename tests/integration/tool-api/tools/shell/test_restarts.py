"""A shell whose bash ended goes on in another one, whatever the former left to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.endpoint import RunningEndpoint


@pytest.mark.parametrize("size", [1000, 100_000, 400_000])
def test_a_shell_goes_on_with_as_many_exported_variables_as_it_had(endpoint: RunningEndpoint, size: int) -> None:
    shell = f"large{size}"
    made = f"export SMALL=kept BIG=$(printf %{size}s | tr ' ' a)"
    assert endpoint.call("shell_exec", shell=shell, command=made, timeout_s=10).success
    endpoint.call("shell_exec", shell=shell, command="exit", timeout_s=10)
    text = "echo $SMALL ${#BIG}; : " + "z" * 70_000
    assert endpoint.call("shell_exec", shell=shell, command=text, timeout_s=10).output == f"kept {size}\n"
    assert endpoint.call("shell_exec", shell=shell, command="echo next", timeout_s=10).output == "next\n"


def test_a_variable_that_is_no_text_is_kept_as_it_was(endpoint: RunningEndpoint) -> None:
    assert endpoint.call("shell_exec", shell="odd", command="export ODD=$'a\\xffb' SMALL=kept", timeout_s=10).success
    endpoint.call("shell_exec", shell="odd", command="exit", timeout_s=10)
    told = endpoint.call("shell_exec", shell="odd", command='echo $SMALL; printf "$ODD" | od -An -tx1', timeout_s=10)
    assert told.output.split() == ["kept", "61", "ff", "62"]


def test_what_a_command_writes_to_the_pipes_of_its_shell_fills_no_memory(endpoint: RunningEndpoint) -> None:
    def most_memory() -> int:
        status = Path(f"/proc/{endpoint.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    # Bash keeps its pipe under another number while a command runs.
    pipe = (
        "for fd in /proc/$$/fd/*; do case $(readlink $fd) in pipe:*) "
        "grep -q 'flags:.*1$' /proc/$$/fdinfo/${fd##*/} && echo $fd;; esac; done"
    )
    assert endpoint.call("shell_exec", shell="forger", command=pipe, timeout_s=5).output.startswith("/proc/")
    before = most_memory()
    for what in ("head -c 300000000 /dev/zero | tr '\\0' x", "printf 'x\\0x\\0x\\0'", "printf '%5000d\\0/\\0\\0' 1"):
        assert endpoint.call("shell_exec", shell="forger", command=f"{what} > $({pipe})", timeout_s=5).output
    assert most_memory() - before < 64 * 1024 * 1024
    endpoint.call("shell_exec", shell="forger", command="exit", timeout_s=5)
    assert endpoint.call("shell_exec", shell="forger", command="echo next", timeout_s=5).output == "next\n"
