"""How many shells there are, and which make room for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_api.tools.shell.shells import MAX_SHELLS, OF_AGENT, Shells, TooManyShellsError


async def test_the_agents_shell_that_was_idle_longest_makes_room(tmp_path: Path) -> None:
    async with Shells(tmp_path) as shells:
        await shells.open("main")
        for number in range(MAX_SHELLS - 1):
            await shells.open(f"{OF_AGENT}{number}")
        command = await (await shells.open(f"{OF_AGENT}1")).start_command("read", wait_s=1)
        await shells.open(f"{OF_AGENT}0")

        await shells.open("named")

        assert len(shells.names()) == MAX_SHELLS
        gone = {f"{OF_AGENT}{number}" for number in range(MAX_SHELLS - 1)} - set(shells.names())
        assert gone == {f"{OF_AGENT}2"}
        assert not command.is_finished


async def test_shells_that_were_named_or_are_busy_make_no_room(tmp_path: Path) -> None:
    async with Shells(tmp_path) as shells:
        for number in range(MAX_SHELLS - 1):
            await shells.open(f"named{number}")
        await (await shells.open(f"{OF_AGENT}0")).start_command("read", wait_s=1)
        with pytest.raises(TooManyShellsError):
            await shells.open("one-more")
        assert await shells.open("named0") is shells.find("named0")
