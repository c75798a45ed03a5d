"""The manager's use cases over fakes, with a clock that moves by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.create_sandbox import CreateSandbox, Limits
from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.get_sandbox import GetSandbox
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.application.list_sandboxes import ListSandboxes
from sandbox_manager.application.mint_token import MintToken
from sandbox_manager.application.reconcile import Reconcile
from sandbox_manager.application.remove_all import RemoveAll
from sandbox_manager.application.renew_sandbox import RenewSandbox
from sandbox_manager.domain.sandbox import Sandbox
from sandbox_manager.infrastructure.memory.registry import MemoryRegistry
from sandbox_manager.infrastructure.runtimes.fake import FakeRuntime
from support.sandboxes import KEYS

IDLE = timedelta(minutes=60)
HARD = timedelta(hours=24)


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
    max_per_user: int = 5
    max_total: int = 20
    start_deadline_s: float = 5.0
    owner: str = "manager-1"

    def __post_init__(self) -> None:
        self.clean = CleanSandbox(self.registry, self.runtime, self.clock, deadline_s=1.0)
        self.launcher = Launcher(
            registry=self.registry,
            runtime=self.runtime,
            keys=KEYS,
            clock=self.clock,
            clean=self.clean,
            owner=self.owner,
            deadline_s=self.start_deadline_s,
        )
        self.create = CreateSandbox(
            registry=self.registry,
            runtime=self.runtime,
            clock=self.clock,
            launcher=self.launcher,
            clean=self.clean,
            limits=Limits(max_per_user=self.max_per_user, max_total=self.max_total, hard=HARD, idle=IDLE),
        )
        self.get = GetSandbox(self.registry, self.launcher)
        self.list = ListSandboxes(self.registry)
        self.renew = RenewSandbox(self.registry, self.clock, IDLE)
        self.mint = MintToken(self.registry, KEYS, self.clock, self.renew)
        self.delete = DeleteSandbox(self.registry, self.launcher, self.clean)
        self.reconcile = Reconcile(self.registry, self.runtime, self.clock, self.clean)
        self.remove_all = RemoveAll(self.registry, self.delete)

    async def ready(self, session_id: str = "s1", user_id: str = "u1") -> Sandbox:
        """A sandbox that is ready."""
        created = await self.create(session_id, user_id)
        return await self.get(created.sandbox.id, 5)
