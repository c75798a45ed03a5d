"""What breaks: by a seed, one thing a second."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import redis.asyncio

from sandbox_manager.infrastructure.runtimes.process.launch import MARK, marked_identity
from sandbox_manager.infrastructure.runtimes.process.processes import marked
from support.fleet import Fleet, Member

EVERY_S = 1.0
SANDBOX_EVERY = 8
"""Of so many kills of a service, one is accompanied by that of a sandbox."""


@dataclass(slots=True, kw_only=True)
class Storm:
    """Kills a random service that is up each second and starts it again; the rest when it is asked to."""

    fleet: Fleet
    chance: random.Random
    done: Counter[str] = field(default_factory=Counter[str])
    _coming: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _down: set[str] = field(default_factory=set[str])

    async def run(self) -> None:
        """Until cancelled; then everything that was killed has been started again."""
        while True:
            await asyncio.sleep(EVERY_S)
            up = [member for member in self.fleet.services if member.name not in self._down]
            if up:
                victim = self.chance.choice(up)
                self.done[victim.name.split("-")[0]] += 1
                self._hurt(victim)
            if self.chance.randrange(SANDBOX_EVERY) == 0:
                await asyncio.to_thread(self._kill_a_sandbox)

    async def flush_redis(self) -> None:
        async with redis.asyncio.Redis.from_url(self.fleet.redis_uri) as client:  # pyright: ignore[reportUnknownMemberType]
            await client.flushall()  # pyright: ignore[reportUnknownMemberType]
        self.done["redis emptied"] += 1

    async def restart_mongod(self) -> None:
        self.fleet["mongod"].kill()
        self.done["mongod"] += 1
        self.fleet["mongod"].start()
        await self.fleet["mongod"].up()

    async def calm(self) -> None:
        """Everything is up again."""
        await asyncio.gather(*self._coming)
        await asyncio.gather(*(member.up() for member in self.fleet.members.values()))

    def _hurt(self, member: Member) -> None:
        member.kill()
        member.start()
        self._down.add(member.name)
        task = asyncio.create_task(self._wait_for(member))
        self._coming.add(task)
        task.add_done_callback(self._coming.discard)

    async def _wait_for(self, member: Member) -> None:
        while not member.is_alive or not await asyncio.to_thread(member.answers, member.port):
            if not member.is_alive:
                # It gave up while a database was away; a deployment starts it again.
                self.done[f"{member.name} gave up"] += 1
                await asyncio.sleep(0.5)
                member.start()
            await asyncio.sleep(0.1)
        self._down.discard(member.name)

    def _kill_a_sandbox(self) -> None:
        for mark, processes in sorted(marked(MARK).items(), key=lambda _: self.chance.random()):
            if marked_identity(mark, self.fleet.stack) is None:
                continue
            victim = self.chance.choice(processes)
            victim.kill()
            self.done["sandbox"] += 1
            return


def left_on_machine(fleet: Fleet, sandbox_ids: set[str]) -> list[str]:
    """What of the stack is left once it has ended."""
    found = [
        f"process {process.pid} of {mark}"
        for mark, all_of in marked(MARK).items()
        for process in all_of
        if mark.startswith(f"{fleet.stack}/")
    ]
    found += [f"service {member.name}" for member in fleet.services if member.is_alive]
    found += [
        f"process {process.pid} {process.name()}"
        for process in psutil.process_iter(["environ"])
        if (process.info["environ"] or {}).get("TMPDIR") == str(fleet.temporary)
        and process.pid not in {fleet["mongod"].pid, fleet["redis"].pid}
    ]
    for name in ("live", "workspaces", "uids"):
        folder = fleet.sandboxes / name
        found += [f"{name}/{one.name}" for one in folder.iterdir()] if folder.exists() else []
    found += [f"temporary {one.name}" for one in fleet.temporary.iterdir()]
    for groups in Path("/sys/fs/cgroup").glob("*/agent-sandboxes"):
        found += [f"cgroup {one}" for one in groups.iterdir() if one.name in sandbox_ids]
    return found


def end_what_is_left(fleet: Fleet) -> None:
    """After a failed test: nothing of it stays on the machine."""
    for mark, processes in marked(MARK).items():
        if mark.startswith(f"{fleet.stack}/"):
            for process in processes:
                os.kill(process.pid, signal.SIGKILL)
