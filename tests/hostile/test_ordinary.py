"""The ordinary user's stack really is one: what the tests beside this one attack is what they mean to."""

from __future__ import annotations

import os

import psutil

from support.intruder import enter
from support.stack import Stack


async def test_nothing_of_an_ordinary_users_stack_runs_as_root(ordinary_stack: Stack) -> None:
    async with enter(ordinary_stack, "ordinary") as intruder:
        assert "exit=0" in await intruder.run("touch /workspace/mine")
        services = [psutil.Process(pid).uids().effective for pid in ordinary_stack.children().values()]
    assert services
    assert 0 not in services
    assert os.geteuid() in (0, *services)
