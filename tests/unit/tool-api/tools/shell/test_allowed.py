"""Which commands a restricted shell refuses."""

from __future__ import annotations

import pytest

from tool_api.tools.shell.allowed import refused_command

ALLOWED = frozenset({"ls", "cat"})


@pytest.mark.parametrize("text", ["ls", "ls -l | cat", "ls && cat x; ls", "A=1 ls", "ls > out", "ls\ncat x"])
def test_allowed_commands_pass(text: str) -> None:
    assert refused_command(text, ALLOWED) is None


@pytest.mark.parametrize(
    "text", ["rm x", "ls; rm x", "ls|rm", "ls && rm", "ls\nrm x", "(rm x)", "ls $(rm x)", "ls `rm`", "cat <(rm)", "'ls"]
)
def test_others_are_refused(text: str) -> None:
    assert refused_command(text, ALLOWED) is not None


def test_an_empty_list_allows_all() -> None:
    assert refused_command("anything $(at all)", frozenset()) is None
