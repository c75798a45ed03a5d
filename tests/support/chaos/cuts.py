"""What comes between somebody at a page and what serves it: by a seed, one cut after the other."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field

from support.chaos.tab import Tab
from support.flaky_proxy import FlakyProxy
from support.fleet import Fleet

KINDS = {
    "socket": 5,
    "network hangs": 2,
    "tab closed": 4,
    "reload": 2,
    "gateway killed": 4,
    "worker killed": 3,
    "offline": 4,
    "redis paused": 2,
    "mongod paused": 2,
}
"""What is drawn, and how often of all."""
LONGEST_S = 2.5


@dataclass(slots=True, kw_only=True)
class Cuts:
    """Every outage ends by itself: `calm` waits until the last one has."""

    fleet: Fleet
    proxy: FlakyProxy
    tab: Tab
    chance: random.Random
    done: Counter[str] = field(default_factory=Counter[str])
    told: list[str] = field(default_factory=list[str])
    _away: set[str] = field(default_factory=set[str])
    _ending: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    @property
    def count(self) -> int:
        return self.done.total()

    async def burst(self, cuts: int) -> None:
        """So many, some at the same moment and others a while apart."""
        for _ in range(cuts):
            await asyncio.sleep(self.chance.choice((0.0, self.chance.uniform(0.05, 1.2))))
            await self._one()

    async def calm(self) -> None:
        """Everything is there again."""
        while self._ending:
            await asyncio.gather(*self._ending)
        await asyncio.gather(*(member.up() for member in self.fleet.members.values()))

    async def _one(self) -> None:
        """One of those that can happen now: what is away already cannot be cut off once more."""
        kinds = [kind for kind in KINDS if kind not in self._away]
        kind = self.chance.choices(kinds, [KINDS[one] for one in kinds])[0]
        lasts = self.chance.uniform(0.2, LONGEST_S)
        self.done[kind] += 1
        self.told.append(kind)
        match kind:
            case "socket":
                self.proxy.cut()
            case "tab closed":
                await self.tab.close_and_reopen()
            case "reload":
                await self.tab.reload()
            case "gateway killed" | "worker killed":
                members = self.fleet.kind(kind.split()[0])
                self._begin(kind, self._killed(self.chance.choice(members).name, lasts / 3))
            case "offline":
                self._begin(kind, self._offline(lasts))
            case "network hangs":
                self._begin(kind, self._hangs(lasts))
            case _:
                self._begin(kind, self._paused(kind.split()[0], lasts))

    def _begin(self, kind: str, outage: Coroutine[None, None, None]) -> None:
        self._away.add(kind)
        task = asyncio.create_task(outage)
        self._ending.add(task)

        def over(ended: asyncio.Task[None]) -> None:
            self._away.discard(kind)
            self._ending.discard(ended)

        task.add_done_callback(over)

    async def _killed(self, name: str, lasts: float) -> None:
        member = self.fleet[name]
        member.kill()
        await asyncio.sleep(lasts)
        member.start()
        while not await asyncio.to_thread(member.answers, member.port):
            if not member.is_alive:
                # It gave up while a database was away; a deployment starts it again.
                await asyncio.sleep(0.5)
                member.start()
            await asyncio.sleep(0.1)

    async def _paused(self, name: str, lasts: float) -> None:
        pid = self.fleet[name].pid
        os.kill(pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(lasts)
        finally:
            os.kill(pid, signal.SIGCONT)

    async def _offline(self, lasts: float) -> None:
        await self.tab.set_offline(is_offline=True)
        await asyncio.sleep(lasts)
        await self.tab.set_offline(is_offline=False)

    async def _hangs(self, lasts: float) -> None:
        self.proxy.freeze()
        await asyncio.sleep(lasts)
        self.proxy.thaw()
