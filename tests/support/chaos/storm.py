"""What breaks: by a seed, one thing after the other."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field

import redis.asyncio

from support.chaos.sandboxes import sandboxes_of
from support.fleet import Fleet
from support.fleet_member import Member


@dataclass(slots=True, kw_only=True)
class Storm:
    """Kills a random service that is up every so often and starts it again; the rest when it is asked to."""

    fleet: Fleet
    chance: random.Random
    every_s: float = 1.0
    sandbox_every: int = 8
    """Of so many kills of a service, one is accompanied by that of a sandbox."""
    done: Counter[str] = field(default_factory=Counter[str])
    _coming: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _down: set[str] = field(default_factory=set[str])

    async def run(self) -> None:
        """Until cancelled; then everything that was killed has been started again."""
        while True:
            await asyncio.sleep(self.every_s)
            up = [member for member in self.fleet.services if member.name not in self._down]
            if up:
                victim = self.chance.choice(up)
                self.done[victim.name.split("-")[0]] += 1
                self._hurt(victim)
            if self.chance.randrange(self.sandbox_every) == 0:
                self.done["sandbox"] += await asyncio.to_thread(sandboxes_of(self.fleet).kill_one, self.chance)

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
