"""Ending what is found in /proc, where a look may miss what forks meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal

from tool_api.programs import processes


async def test_what_one_look_misses_is_ended_all_the_same() -> None:
    sleeper = await asyncio.create_subprocess_exec("sleep", "60")
    looks = iter([[], [sleeper.pid]])

    def find() -> list[int]:
        # Its exit is taken by the loop's child watcher.
        return next(looks, [] if sleeper.returncode is not None else [sleeper.pid])

    try:
        assert await processes.end_found(find)
        assert await sleeper.wait() == -signal.SIGTERM
    finally:
        if sleeper.returncode is None:
            sleeper.kill()
            await sleeper.wait()


async def test_processes_are_found_by_a_variable_and_by_when_they_began() -> None:
    name = f"MARK_{os.getpid()}"
    sleeper = await asyncio.create_subprocess_exec("sleep", "60", env={name: "one"})
    try:
        for variable in (f"{name}=one", f"{name}="):
            assert processes.with_variable(variable.encode()) == [sleeper.pid]
        assert processes.with_variable(f"{name}=on".encode()) == []
        later = processes.clock_ticks() + 1000
        assert processes.with_variable(f"{name}=one".encode(), later) == []
    finally:
        sleeper.kill()
        await sleeper.wait()
