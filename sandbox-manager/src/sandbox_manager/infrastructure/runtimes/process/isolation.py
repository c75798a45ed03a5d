"""The command line that confines a sandbox.

Inner bubblewrap, the same for every user: own mount, pid, ipc, uts, user, cgroup and network namespaces, uid 1000, no
capability, a read-only root made of nothing but what is bound here.

As root there is a stage before it: bubblewrap with no user namespace of its own binds the sources to places anybody can
reach (a Python under /root could not be reached otherwise), then the sandbox's unprivileged uid takes over, so that the
host's file permissions and limits hold against the sandbox as against any other user.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.process import first_process
from sandbox_manager.infrastructure.runtimes.process.etc import FROM_HOST
from sandbox_manager.infrastructure.runtimes.process.python_home import all_arguments

STAGE = Path("/mnt")
PROGRAMS = "/opt/programs"
"""The last folder of the search path: the machine's own programs come first."""
FIRST_PROCESS = "/first_process.py"
"""The path of the first process's program inside; the root is read-only."""
SYNC_FD, GO_FD, ARGS_FD, INFO_FD, SECCOMP_FD, ENDPOINT_FD = 3, 4, 5, 6, 7, 8
_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_MIB = 1024 * 1024


@dataclass(slots=True)
class Sources:
    """Bind sources as the inner bubblewrap names them; `staged` are those that the stage has to bind first."""

    stage: bool
    staged: list[str] = field(default_factory=list[str])

    def at(self, source: Path, *, writable: bool = False) -> str:
        if not self.stage:
            return str(source)
        place = str(STAGE / str(len(self.staged)))
        self.staged += ["--bind" if writable else "--ro-bind", str(source), place]
        return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """Inputs of a sandbox's command line."""

    python: Path
    kernel_python: Path | None
    python_path: tuple[Path, ...]
    workspace: Path
    etc: list[Path]
    environment: dict[str, str]
    has_network: bool
    has_filter: bool


def inner_arguments(shell: Shell, sources: Sources) -> list[str]:
    """Arguments of the inner bubblewrap, without the command."""
    network = ["--share-net"] if shell.has_network else []
    arguments = ["--unshare-all", *network, "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
    # Bubblewrap's own first process can be traced by any other: ours can't, and runs nothing of the agent's either.
    arguments += ["--cap-drop", "ALL", "--info-fd", str(INFO_FD), "--as-pid-1"]
    arguments += ["--ro-bind", sources.at(Path(first_process.__file__)), FIRST_PROCESS]
    arguments += ["--sync-fd", str(SYNC_FD)] if shell.has_network else []
    arguments += ["--seccomp", str(SECCOMP_FD)] if shell.has_filter else []
    arguments += _system()
    for path in FROM_HOST:
        arguments += ["--ro-bind-try", path, path]
    for file in shell.etc:
        arguments += ["--ro-bind", sources.at(file), f"/etc/{file.name}"]
    pythons = [shell.python, *([shell.kernel_python] if shell.kernel_python is not None else [])]
    arguments += all_arguments(pythons, sources.at)
    arguments += _programs(shell.python, sources)
    for folder in shell.python_path:
        arguments += ["--ro-bind", sources.at(folder), str(folder)]
    arguments += ["--bind", sources.at(shell.workspace, writable=True), "/workspace"]
    arguments += ["--remount-ro", "/", "--chdir", "/", "--clearenv"]
    for name, value in shell.environment.items():
        arguments += ["--setenv", name, value]
    return arguments


def _programs(python: Path, sources: Sources) -> list[str]:
    """Bind the programs of the tool API's environment that the agent may use too, without the rest of it."""
    found = [one for name in ("uv", "uvx") if (one := python.with_name(name)).is_file()]
    return [part for one in found for part in ("--ro-bind", sources.at(one), f"{PROGRAMS}/{one.name}")]


def first(python: Path, *, has_network: bool) -> list[str]:
    """Command prefix of the first process inside. It holds the pipe that tells the network that the sandbox lives."""
    return [str(python), "-I", "-S", FIRST_PROCESS, str(SYNC_FD) if has_network else "-"]


def _system() -> list[str]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _LINKS:
        link = Path("/", name)
        if link.is_symlink():
            arguments += ["--symlink", str(link.readlink()), str(link)]
        elif link.is_dir():
            arguments += ["--ro-bind", str(link), str(link)]
    arguments += ["--ro-bind-try", "/opt/google", "/opt/google"]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    arguments += _tmpfs("/dev/shm", 512, "1777")
    arguments += ["--remount-ro", "/dev"]  # a file system in memory too, and of any size
    arguments += _tmpfs("/tmp", 1024, "1777")
    arguments += _tmpfs("/var/tmp", 256, "1777")
    arguments += _tmpfs("/home/agent", 1024, "0700")
    arguments += _tmpfs("/skills", 64, "0755")
    arguments += _tmpfs("/run", 64, "0755")
    arguments += ["--perms", "0700", "--dir", "/run/sandbox"]
    return [*arguments, "--ro-bind-try", "/var/cache/fontconfig", "/var/cache/fontconfig"]


def _tmpfs(path: str, mib: int, mode: str) -> list[str]:
    return ["--perms", mode, "--size", str(mib * _MIB), "--tmpfs", path]


def as_user(uid: int | None) -> list[str]:
    """Command prefix that takes on the sandbox's uid for good."""
    if uid is None:
        return ["setpriv", "--no-new-privs", "--"]
    identity = ["--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
    return ["setpriv", *identity, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]


def stage(sources: Sources) -> list[str]:
    """Command prefix of the stage; empty if the sources need none."""
    if not sources.stage:
        return []
    kept = [part for name in ("SETUID", "SETGID", "SETPCAP") for part in ("--cap-add", f"CAP_{name}")]
    return ["bwrap", "--dev-bind", "/", "/", "--tmpfs", str(STAGE), *sources.staged, "--cap-drop", "ALL", *kept, "--"]


def join(folders: list[Path]) -> list[str]:
    """Command prefix that joins cgroups."""
    if not folders:
        return []
    script = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 98; shift; done; shift; exec "$@"'
    return ["sh", "-c", script, "join", *(str(folder) for folder in folders), "--"]


def netns(rules: str) -> list[str]:
    """Command prefix that makes a network namespace, reports its pid, and waits until the network is there.

    Its packet filter is set with rights over the namespace that the sandbox itself never gets.
    """
    gate = (
        f"echo $$ >&{SYNC_FD}; nft {shlex.quote(rules)} || exit 96; "
        f'read -r go <&{GO_FD} || exit 97; exec {GO_FD}<&-; ip link set lo up; exec "$@"'
    )
    return ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", gate, "sandbox"]
