"""A shell whose bash ended goes on in another one, whatever the former left to it."""

from __future__ import annotations

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
