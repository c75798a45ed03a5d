"""The manager's use cases over fakes, with a clock that moves by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sandbox_manager.application.admission import Admission
from sandbox_manager.application.claim_sandbox import ClaimSandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.create_sandbox import CreateSandbox
from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.get_sandbox import GetSandbox
from sandbox_manager.application.keep_alive import KeepAlive
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.application.list_sandboxes import ListSandboxes
from sandbox_manager.application.mint_token import MintToken
from sandbox_manager.application.pause_sandbox import PauseSandbox, ResumeSandbox
from sandbox_manager.application.pool import Pool, PoolPace, PoolParts
from sandbox_manager.application.presence import Presence
from sandbox_manager.application.reconcile import Reconcile
from sandbox_manager.application.remove_all import RemoveAll
from sandbox_manager.application.renew_sandbox import RenewSandbox
from sandbox_manager.application.sandbox_work import SandboxWork
from sandbox_manager.domain.admission import Limits, Room
from sandbox_manager.domain.clocks import Clocks
from sandbox_manager.domain.sandbox import Sandbox
from sandbox_manager.infrastructure.memory.leases import MemoryLeases
from sandbox_manager.infrastructure.memory.registry import MemoryRegistry
from sandbox_manager.infrastructure.runtimes.fake import FakeRuntime
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
class Keeping:
    """One manager; give two the same registry and runtime to have two managers."""

    registry: MemoryRegistry = field(default_factory=MemoryRegistry)
    runtime: FakeRuntime = field(default_factory=FakeRuntime)
    clock: HandClock = field(default_factory=HandClock)
    leases: MemoryLeases = field(default_factory=MemoryLeases)
    max_per_user: int = 5
    max_per_user_total: int = 10
    max_total: int = 20
    max_queued: int = 100
    room: Room = field(default_factory=Room)
    start_deadline_s: float = 5.0
    pool_size: int = 0
    owner: str = "manager-1"

    def __post_init__(self) -> None:
        self.registry.clock = self.leases.clock = self.clock
        work = SandboxWork(self.registry, self.owner)
        self.clean = CleanSandbox(self.registry, self.runtime, self.clock, work, deadline_s=1.0, wait_s=1.0)
        self.launcher = Launcher(
            registry=self.registry,
            runtime=self.runtime,
            keys=KEYS,
            clean=self.clean,
            work=work,
            deadline_s=self.start_deadline_s,
            claim=ClaimSandbox(runtime=self.runtime, keys=KEYS, wall=self.clock, clean=self.clean),
        )
        limits = Limits(
            max_per_user=self.max_per_user,
            max_per_user_total=self.max_per_user_total,
            max_total=self.max_total,
            max_queued=self.max_queued,
            hard=HARD,
            idle=IDLE,
        )
        self.keep_alive = KeepAlive(
            registry=self.registry, runtime=self.runtime, keys=KEYS, clock=self.clock, wall=self.clock, idle=IDLE
        )
        parts = PoolParts(
            registry=self.registry,
            runtime=self.runtime,
            keys=KEYS,
            clock=self.clock,
            leases=self.leases,
            clean=self.clean,
            keep_alive=self.keep_alive,
            limits=limits,
            room=self._room,
        )
        pace = PoolPace(quiet=0, recipe=0)
        self.pool = Pool(parts, size=self.pool_size, deadline_s=self.start_deadline_s, pace=pace)
        self.admission = Admission(
            registry=self.registry,
            runtime=self.runtime,
            launcher=self.launcher,
            clean=self.clean,
            limits=limits,
            room=self._room,
            recipe=self.pool.recipe,
        )
        keepers = {"registry": self.registry, "runtime": self.runtime, "clock": self.clock, "clean": self.clean}
        self.pause = PauseSandbox(**keepers, keep=PAUSE)
        self.resume = ResumeSandbox(**keepers, idle=IDLE, admission=self.admission, pause=self.pause)
        self.renew = RenewSandbox(self.registry, self.clock, IDLE, self.resume)
        self.presence = Presence(self.leases, self.runtime, self.clock, self.owner)
        self.create = CreateSandbox(
            registry=self.registry,
            runtime=self.runtime,
            clock=self.clock,
            clean=self.clean,
            renew=self.renew,
            admission=self.admission,
            presence=self.presence,
        )
        self.get = GetSandbox(self.registry, self.launcher, self.clock)
        self.list = ListSandboxes(self.registry)
        self.mint = MintToken(self.registry, KEYS, self.clock, self.renew)
        self.delete = DeleteSandbox(self.registry, self.launcher, self.clean)
        self.reconcile = Reconcile(
            registry=self.registry,
            runtime=self.runtime,
            clock=self.clock,
            clean=self.clean,
            clocks=Clocks(idle=IDLE),
            presence=self.presence,
            keep_alive=self.keep_alive,
            mend=self.resume.mend,
        )
        self.remove_all = RemoveAll(self.registry, self.delete, self.clean)

    async def _room(self) -> Room:
        return self.room

    async def ready(self, session_id: str = "s1", user_id: str = "u1") -> Sandbox:
        """A sandbox that is ready."""
        created = await self.create(session_id, user_id)
        return await self.get(created.sandbox.id, 5)
