"""The manager's use cases over fakes, with a clock that moves by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from sandbox_manager.application.pool import PoolIntervals
from sandbox_manager.bootstrap.assembly import DEFAULT_ONLY, Adapters, Rules, assemble
from sandbox_manager.domain.admission import Limits, Room
from sandbox_manager.domain.clocks import Clocks
from sandbox_manager.domain.configuration import Configurations
from sandbox_manager.domain.disk import DiskLimit
from sandbox_manager.domain.sandbox import Sandbox
from support.memory_manager.leases import MemoryLeases
from support.memory_manager.registry import MemoryRegistry
from support.memory_manager.runtime import FakeRuntime
from support.memory_manager.workspaces import MemoryWorkspaces
from support.sandboxes import KEYS

IDLE = timedelta(minutes=60)
HARD = timedelta(hours=24)
PAUSE = timedelta(hours=2)


@dataclass
class HandClock:
    """Stands still until moved."""

    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def move(self, by: timedelta) -> None:
        self.at += by


@dataclass
class ManagerHarness:
    """One manager; give two the same registry and runtime to have two managers."""

    registry: MemoryRegistry = field(default_factory=MemoryRegistry)
    runtime: FakeRuntime = field(default_factory=FakeRuntime)
    clock: HandClock = field(default_factory=HandClock)
    leases: MemoryLeases = field(default_factory=MemoryLeases)
    max_per_user: int = 5
    max_per_user_total: int = 10
    max_total: int = 20
    max_queued: int = 100
    max_queued_per_user: int = 20
    room: Room = field(default_factory=Room)
    start_deadline_s: float = 5.0
    pool_size: int = 0
    configurations: Configurations = DEFAULT_ONLY
    owner: str = "manager-1"
    ended: set[str] = field(default_factory=set[str])
    """Owners that are known to have ended without a word."""

    def __post_init__(self) -> None:
        self.registry.clock = self.leases.clock = self.clock
        adapters = Adapters(
            registry=self.registry,
            leases=self.leases,
            workspaces=MemoryWorkspaces(),
            runtime=self.runtime,
            keys=KEYS,
            clock=self.clock,
            wall=self.clock,
            has_ended=lambda owner: owner in self.ended,
        )
        rules = Rules(
            limits=Limits(
                max_per_user=self.max_per_user,
                max_per_user_total=self.max_per_user_total,
                max_total=self.max_total,
                max_queued=self.max_queued,
                max_queued_per_user=self.max_queued_per_user,
                hard=HARD,
                idle=IDLE,
            ),
            clocks=Clocks(idle=IDLE, pause=PAUSE),
            disk=DiskLimit(),
            room=self._room,
            pool_size=self.pool_size,
            configurations=self.configurations,
            pool_intervals=PoolIntervals(quiet=0, fingerprint=0),
            start_deadline_s=self.start_deadline_s,
            clean_deadline_s=1.0,
            clean_wait_s=1.0,
        )
        made = assemble(adapters, rules, self.owner)
        self.clean, self.launcher, self.presence, self.keep_alive = (
            made.clean,
            made.launcher,
            made.presence,
            made.keep_alive,
        )
        self.pool, self.admission, self.pause, self.resume = made.pool, made.admission, made.pause, made.resume
        self.create, self.get, self.list, self.renew = made.create, made.get, made.list, made.renew
        self.mint, self.delete, self.remove_all = made.mint, made.delete, made.remove_all
        # As where nothing is paused for being idle: most tests are of what ends.
        self.reconcile = replace(made.reconcile, clocks=Clocks(idle=IDLE), pause=None)

    async def _room(self) -> Room:
        return self.room

    async def ready(self, session_id: str = "s1", user_id: str = "u1") -> Sandbox:
        """A sandbox that is ready."""
        created = await self.create(session_id, user_id)
        return await self.get(created.sandbox.id, 5)
