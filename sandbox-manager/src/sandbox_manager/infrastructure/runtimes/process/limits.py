"""Limits of a process sandbox, by the machine's means: writable cgroups, a scope of the user's systemd, else
rlimits."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile

_ROOT = Path("/sys/fs/cgroup")
_PERIOD_US = 100_000
_OPEN_FILES = 8192
_REMOVE_S = 2.0
_TCP_BYTES = 64 * 1024 * 1024
_TRY_S = 10.0
_SHARES, _WEIGHT = "192", "19"
"""A fifth of what a group usually has (cgroup v1, v2). With a half, twenty busy sandboxes on two processors made the
first piece of an answer take 3.5 times as long (tests/hostile/test_storm.py)."""
_GROUP_OF = "grep ^0:: /proc/self/cgroup | cut -d: -f3-"
_OF_A_TRIAL = 3
"""Tasks of a trial: the first one in the namespace, a shell, and its child."""


_HELD = "Memory, processes and processors of each sandbox are bounded, and workspaces are counted."
_NOT_HELD = (
    "Each sandbox has a limit of processes, each of its processes a limit of memory, and workspaces are counted. Its "
    "memory as a whole and its processors are not bounded: no cgroup can be written, and the user has no systemd."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The way this machine limits sandboxes. `kind` is for the log: cgroup v1, cgroup v2, systemd scope or rlimit.
    `scopes` is the cgroup in which systemd makes its scopes.

    `counts_by_namespace`: whether the kernel holds `RLIMIT_NPROC` against the tasks of a user in one user namespace, as
    it does since Linux 5.14, instead of against all tasks the user has on the machine.
    """

    kind: str
    inside: SandboxProfile
    counts_by_namespace: bool = False
    scopes: Path | None = None

    @property
    def bounds(self) -> str:
        """The kinds of limits that hold, for the log."""
        return _NOT_HELD if self.kind == "rlimit" else _HELD

    def group(self, name: str) -> list[Path]:
        """Make the cgroups of a sandbox; processes join by writing their pid to `cgroup.procs` in each. None where
        systemd makes it as the sandbox starts."""
        folders = [] if self.scopes is not None else self.folders(name)
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            _lower_weight(folder.parent)
            for file, value in self._values(folder).items():
                if (folder / file).exists():
                    (folder / file).write_text(value)
        return folders

    def remove_group(self, name: str) -> None:
        """Remove them once no process is left in them. Raises `EngineUnavailableError`."""
        if self.scopes is not None:
            return  # systemd does
        until = time.monotonic() + _REMOVE_S
        for folder in self.folders(name):
            while folder.exists():
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError as error:
                    if time.monotonic() > until:
                        raise EngineUnavailableError("Processes of a sandbox could not be ended.") from error
                    time.sleep(0.01)

    def scope(self, name: str) -> list[str]:
        """Command prefix that runs what follows in a scope of the user's systemd, where it is used."""
        if self.scopes is None:
            return []
        runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.geteuid()}")
        command = ["env", f"XDG_RUNTIME_DIR={runtime}", "systemd-run", "--user", "--scope", "--quiet", "--collect"]
        properties = {
            "MemoryMax": str(self.inside.memory_bytes),
            "MemorySwapMax": "0",
            "TasksMax": str(self.inside.pids),
            "CPUQuota": f"{round(self.inside.cpus * 100)}%",
            "CPUWeight": _WEIGHT,
        }
        command += [part for key, value in properties.items() for part in ("-p", f"{key}={value}")]
        return [*command, f"--unit={_unit(name)}", "--", "env", "-u", "XDG_RUNTIME_DIR"]

    def prlimit(self) -> list[str]:
        """Command prefix that sets rlimits; memory and processes only where no cgroup does."""
        command = ["prlimit", "--core=0", f"--nofile={_OPEN_FILES}"]
        if self.kind == "rlimit":
            command += [f"--data={self.inside.memory_bytes}"]
            # Before 5.14 a sandbox that starts many processes leaves none for the others.
            command += [] if self.counts_by_namespace else [f"--nproc={self.inside.pids + _own_tasks()}"]
        else:
            command += [f"--nproc={self.inside.pids}"] if os.geteuid() == 0 else []
        return [*command, "--"]

    def prlimit_inside(self) -> list[str]:
        """Command prefix for the first program in the sandbox's own user namespace, where only its tasks count."""
        is_held = self.kind == "rlimit" and self.counts_by_namespace
        return ["prlimit", f"--nproc={self.inside.pids}", "--"] if is_held else []

    def folders(self, name: str) -> list[Path]:
        """The cgroup folders of a sandbox, if there are any."""
        if self.kind == "cgroup v1":
            more = [one for one in ("freezer", "cpuacct") if (_ROOT / one / "cgroup.procs").exists()]
            controllers = ("memory", "pids", "cpu", *more)
            return [_ROOT / controller / "agent-sandboxes" / name for controller in controllers]
        if self.kind == "cgroup v2":
            return [_ROOT / "agent-sandboxes" / name]
        return [] if self.scopes is None else [self.scopes / _unit(name)]

    def _values(self, folder: Path) -> dict[str, str]:
        quota = str(int(self.inside.cpus * _PERIOD_US))
        memory, pids = str(self.inside.memory_bytes), str(self.inside.pids)
        if self.kind == "cgroup v2":
            return {
                "memory.max": memory,
                "memory.swap.max": "0",
                "pids.max": pids,
                "cpu.max": f"{quota} {_PERIOD_US}",
            }
        return {
            "memory": {
                "memory.limit_in_bytes": memory,
                "memory.memsw.limit_in_bytes": memory,
                # Here buffers of TCP count against no other limit.
                "memory.kmem.tcp.limit_in_bytes": str(_TCP_BYTES),
            },
            "pids": {"pids.max": pids},
            "cpu": {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": quota},
            "freezer": {},
            "cpuacct": {},
        }[folder.parent.parent.name]


def limits_here(inside: SandboxProfile, *, isolated: bool) -> Limits:
    """The limits that this machine and user allow; without isolation a sandbox has no namespace of its own."""
    for kind in ("cgroup v1", "cgroup v2"):
        limits = Limits(kind, inside)
        if _is_usable(limits):
            return limits
    if (scopes := _scopes_here(inside)) is not None:
        return Limits("systemd scope", inside, scopes=scopes)
    return Limits("rlimit", inside, counts_by_namespace=isolated and _counts_by_namespace())


def _is_usable(limits: Limits) -> bool:
    if limits.kind == "cgroup v2" and not _is_delegated():
        return False
    if limits.kind == "cgroup v1" and not (_ROOT / "memory" / "cgroup.procs").exists():
        return False
    name = f"try-{os.getpid()}"
    try:
        limits.group(name)
        limits.remove_group(name)
    except (OSError, EngineUnavailableError):
        return False
    return True


def _scopes_here(inside: SandboxProfile) -> Path | None:
    """The cgroup in which the user's systemd makes a scope, by trial: None unless it does and the scope's limit of
    memory holds."""
    limits = Limits("systemd scope", inside, scopes=_ROOT)
    look = f'group=$({_GROUP_OF}); echo "$group"; cat "{_ROOT}$group/memory.max"'
    try:
        command = [*limits.scope(f"try-{os.getpid()}"), "sh", "-c", look]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TRY_S, check=True, stdin=subprocess.DEVNULL
        )
        group, limit = done.stdout.splitlines()
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    is_held = limit.isdigit() and int(limit) <= inside.memory_bytes
    return (_ROOT / group.lstrip("/")).parent if is_held else None


def _unit(name: str) -> str:
    return f"agent-sandbox-{name}.scope"


def _is_delegated() -> bool:
    wanted = {"memory", "pids", "cpu"}
    parent = _ROOT / "agent-sandboxes"
    try:
        parent.mkdir(exist_ok=True)
        (parent / "cgroup.subtree_control").write_text(" ".join(f"+{one}" for one in sorted(wanted)))
        return wanted <= set((parent / "cgroup.subtree_control").read_text().split())
    except OSError:
        return False


def _lower_weight(parent: Path) -> None:
    """Give all sandboxes together a fifth of a usual group's share of the processors, so that they yield to the
    services for people. With much less none of them starts while anything else keeps the machine busy."""
    for file, share in (("cpu.shares", _SHARES), ("cpu.weight", _WEIGHT)):
        with contextlib.suppress(OSError):
            if (parent / file).exists():
                (parent / file).write_text(share)


def _counts_by_namespace() -> bool:
    """Whether the kernel counts tasks by namespace, by trial: in a namespace without room for another task a shell can
    start one, though the user has more beside it: at least this program and the one that waits outside."""
    # Tried by bubblewrap, which may be allowed what a machine forbids other programs.
    command = ["bwrap", "--unshare-all", "--uid", "1000", "--gid", "1000", "--ro-bind", "/", "/", "--dev", "/dev", "--"]
    command += ["prlimit", f"--nproc={_OF_A_TRIAL}", "--", "sh", "-c", "true & wait $!"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TRY_S, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _own_tasks() -> int:
    # All the user has on the machine.
    count = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.geteuid():
                count += sum(1 for _ in (entry / "task").iterdir())
    return count
