"""Ending what is found in /proc, where a look may miss what forks meanwhile."""

from __future__ import annotations

import asyncio
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
