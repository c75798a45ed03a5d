"""User-mode networking: out to the internet, not to this machine."""

from __future__ import annotations

import ipaddress
import itertools
import os
import shutil

from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, reference
from sandbox_manager.infrastructure.runtimes.process.spawn import DeadlineError, Pipe, spawn

RESOLVER = "10.0.2.3"
_LINK_LOCAL = "169.254.0.0/16"
_OWN = ipaddress.ip_network("10.0.2.0/24")
_TUN = "/dev/net/tun"
_READY_FD, _EXIT_FD = 3, 4


def available() -> bool:
    """Whether the programs it takes are there, and the device they make networks of is open to this user."""
    return all(shutil.which(name) for name in ("slirp4netns", "ip", "unshare")) and os.access(_TUN, os.R_OK | os.W_OK)


def blocked_addresses(subnets: tuple[str, ...], folder: str = "/proc/net/fib_trie") -> list[str]:
    """What no sandbox may reach: link-local, every address of this machine, other sandboxes' subnets."""
    blocked = [_LINK_LOCAL, *subnets]
    try:
        with open(folder) as trie:
            lines = [line.strip() for line in trie]
    except OSError:
        lines = []
    for before, line in itertools.pairwise(lines):
        if line.startswith("/32 host LOCAL"):
            address = before.removeprefix("|-- ")
            if not ipaddress.ip_address(address).is_loopback and ipaddress.ip_address(address) not in _OWN:
                blocked.append(f"{address}/32")
    return list(dict.fromkeys(blocked))


def attach(pid: int, prefix: list[str], environment: dict[str, str], deadline_s: float, *, life: int) -> ProcessRef:
    """Attach a network to the namespace of a process and wait until it is configured. Raises `DeadlineError`.

    `life` is the reading end of a pipe the sandbox holds open: when it closes, the network ends by itself.
    """
    ready = Pipe()
    command = [
        *prefix,
        "slirp4netns",
        "--configure",
        "--mtu=1400",
        "--disable-host-loopback",
        f"--ready-fd={_READY_FD}",
        f"--exit-fd={_EXIT_FD}",
        "--netns-type=path",
        *_join(pid, as_root=not prefix),
        f"/proc/{pid}/ns/net",
        "tap0",
    ]
    with ready:
        child = spawn(command, environment, files={_READY_FD: ready.writer, _EXIT_FD: life})
        ready.close_writer()
        if not ready.read(deadline_s, 1):
            raise DeadlineError("the sandbox's network could not be set up")
    process = reference(child)
    if process is None:
        raise DeadlineError("the sandbox's network ended at once")
    return process


def _join(pid: int, *, as_root: bool) -> list[str]:
    return [] if as_root else [f"--userns-path=/proc/{pid}/ns/user"]
