"""Use cases over adapters: the same assembly for a deployment and for tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from sandbox_manager.application.admission import Admission
from sandbox_manager.application.claim_sandbox import ClaimSandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.create_sandbox import CreateSandbox
from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.follow_changes import FollowChanges
from sandbox_manager.application.get_sandbox import GetSandbox
from sandbox_manager.application.keep_alive import KeepAlive
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.application.list_sandboxes import ListSandboxes
from sandbox_manager.application.mint_token import MintToken
from sandbox_manager.application.pause_sandbox import PauseSandbox, ResumeSandbox
from sandbox_manager.application.pool import Pool, PoolIntervals, PoolParts
from sandbox_manager.application.presence import Presence
from sandbox_manager.application.read_choices import ReadChoices
from sandbox_manager.application.read_stats import ReadStats
from sandbox_manager.application.reconcile import Reconcile
from sandbox_manager.application.remove_all import RemoveAll
from sandbox_manager.application.renew_sandbox import RenewSandbox
from sandbox_manager.application.sandbox_work import SandboxWork
from sandbox_manager.application.workspace_location import is_elsewhere
from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.domain.admission import Limits, Room
from sandbox_manager.domain.clocks import Clocks
from sandbox_manager.domain.configuration import Configurations, Size
from sandbox_manager.domain.disk import DiskLimit
from sandbox_manager.domain.ports import (
    Clock,
    Leases,
    RuntimeHost,
    SandboxChanges,
    SandboxLeases,
    SandboxLifecycle,
    SandboxMonitor,
    SandboxRecords,
    TokenKeys,
)
from sandbox_manager.domain.workspace import WorkspaceArchives, WorkspaceRecords


class SandboxRegistry(SandboxRecords, SandboxLeases, SandboxChanges, Protocol):
    """The ports that one database adapter implements: more than seven methods, as lease and record are one document,
    though each use case takes the port it needs."""

    async def check(self) -> None:
        """Raise `RegistryUnavailableError` when the registry does not answer."""
        ...


class Runtime(RuntimeHost, SandboxLifecycle, SandboxMonitor, Protocol):
    """The ports that one engine adapter implements: more than seven methods, as an engine is one adapter, though each
    use case takes the ports it needs."""

    @property
    def archives(self) -> WorkspaceArchives:
        """The files of its workspaces as a whole."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapters:
    """Adapters under the use cases. `clock` is the database's; tokens use `wall`, this machine's, as endpoints do.
    `has_ended` is that of `Presence`."""

    registry: SandboxRegistry
    leases: Leases
    workspaces: WorkspaceRecords
    runtime: Runtime
    keys: TokenKeys
    clock: Clock
    wall: Clock
    has_ended: Callable[[str], bool]


DEFAULT_ONLY = Configurations(standard=Size(cpus=2, memory_mb=2048, disk_mb=10_240))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Limits on the number and life of sandboxes, and this manager's deadlines; seconds where a name ends so."""

    limits: Limits
    clocks: Clocks
    disk: DiskLimit
    room: Callable[[], Awaitable[Room]]
    pool_size: int
    pool_intervals: PoolIntervals = field(default_factory=PoolIntervals)
    configurations: Configurations = DEFAULT_ONLY
    start_deadline_s: float = 60.0
    clean_deadline_s: float = 60.0
    clean_wait_s: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """Every use case of one manager, and its background work."""

    adapters: Adapters
    owner: str
    files: WorkspaceWork
    clean: CleanSandbox
    launcher: Launcher
    presence: Presence
    keep_alive: KeepAlive
    pool: Pool
    admission: Admission
    create: CreateSandbox
    choices: ReadChoices
    get: GetSandbox
    list: ListSandboxes
    pause: PauseSandbox
    resume: ResumeSandbox
    renew: RenewSandbox
    mint: MintToken
    delete: DeleteSandbox
    follow: FollowChanges
    stats: ReadStats
    reconcile: Reconcile
    remove_all: RemoveAll


def assemble(adapters: Adapters, rules: Rules, owner: str) -> Assembly:
    """The use cases of the manager that works as `owner`."""
    registry, runtime, keys, clock = adapters.registry, adapters.runtime, adapters.keys, adapters.clock
    limits, clocks = rules.limits, rules.clocks
    work = SandboxWork(registry, owner)
    clean = CleanSandbox(
        registry, runtime, runtime, clock, work, deadline_s=rules.clean_deadline_s, wait_s=rules.clean_wait_s
    )
    files = WorkspaceWork(
        adapters.workspaces,
        runtime.archives,
        clock,
        owner,
        lambda session_id: is_elsewhere(registry, runtime.place, session_id),
    )
    launcher = Launcher(
        registry=registry,
        runtime=runtime,
        keys=keys,
        clean=clean,
        work=work,
        deadline_s=rules.start_deadline_s,
        files_ready=files.ready_to_start,
        claim=ClaimSandbox(lifecycle=runtime, monitor=runtime, keys=keys, wall=adapters.wall, clean=clean),
    )
    delete = DeleteSandbox(registry, launcher, clean)
    presence = Presence(adapters.leases, runtime, clock, owner, adapters.has_ended)
    keep_alive = KeepAlive(
        registry=registry,
        runtime=runtime,
        keys=keys,
        clock=clock,
        wall=adapters.wall,
        idle=clocks.idle,
        disk=rules.disk,
    )
    pool = Pool(
        PoolParts(
            registry=registry,
            host=runtime,
            lifecycle=runtime,
            keys=keys,
            clock=clock,
            leases=adapters.leases,
            clean=clean,
            keep_alive=keep_alive,
            limits=limits,
            room=rules.room,
        ),
        size=rules.pool_size,
        deadline_s=rules.start_deadline_s,
        intervals=rules.pool_intervals,
    )
    admission = Admission(
        registry=registry,
        runtime=runtime,
        clock=clock,
        launcher=launcher,
        clean=clean,
        limits=limits,
        room=rules.room,
        fingerprint=pool.fingerprint,
    )
    pause = PauseSandbox(registry=registry, runtime=runtime, clock=clock, clean=clean, keep=clocks.pause)
    resume = ResumeSandbox(
        registry=registry,
        runtime=runtime,
        clock=clock,
        clean=clean,
        idle=clocks.idle,
        admission=admission,
        pause=pause,
    )
    renew = RenewSandbox(registry, clock, clocks.idle, resume)
    return Assembly(
        adapters=adapters,
        owner=owner,
        files=files,
        clean=clean,
        launcher=launcher,
        presence=presence,
        keep_alive=keep_alive,
        pool=pool,
        admission=admission,
        create=CreateSandbox(
            registry=registry,
            runtime=runtime,
            clock=clock,
            clean=clean,
            renew=renew,
            admission=admission,
            presence=presence,
            configurations=rules.configurations,
            orphan_after=clocks.orphan,
        ),
        choices=ReadChoices(configurations=rules.configurations, runtime=runtime),
        get=GetSandbox(registry, launcher, clock, limits),
        list=ListSandboxes(registry),
        pause=pause,
        resume=resume,
        renew=renew,
        mint=MintToken(registry, keys, adapters.wall, renew),
        delete=delete,
        follow=FollowChanges(registry),
        stats=ReadStats(registry=registry, runtime=runtime, keep_alive=keep_alive, room=admission.room, limits=limits),
        reconcile=Reconcile(
            registry=registry,
            host=runtime,
            lifecycle=runtime,
            clock=clock,
            clean=clean,
            clocks=clocks,
            presence=presence,
            keep_alive=keep_alive,
            pause=pause.when_idle if clocks.pause else None,
            mend=resume.mend,
        ),
        remove_all=RemoveAll(registry, delete, clean),
    )
