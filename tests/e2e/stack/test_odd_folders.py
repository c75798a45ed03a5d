"""A data folder of any name."""

from __future__ import annotations

import tempfile
from pathlib import Path

from support.intruder import enter
from support.stack import run_stack

NAME = 'it\'s "Größe" #1 $X'


async def test_a_stack_runs_in_a_folder_of_any_name_and_comes_back_there() -> None:
    # Not below pytest's own folder: a socket's path has room for 107 bytes.
    with tempfile.TemporaryDirectory(dir="/tmp") as parent:
        for time, desktop in (("first", "true"), ("second", "false")):
            with run_stack(Path(parent) / NAME, SANDBOX_DESKTOP=desktop) as stack:
                assert set(stack.children()) == {"mongod", "redis", "manager", "gateway"}
                async with enter(stack, f"session-{time}") as intruder:
                    said = await intruder.run("echo written > file && cat file")
                assert said.split() == ["written", "exit=0"], said
