"""User-mode networking: out to the internet, not to this machine."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.packet_filter import FilterExceptions, HostNetworks, networks_of, rules
from sandbox_manager.infrastructure.runtimes.process.namespaces import SEARCHED, namespace_entry, trouble
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, reference
from sandbox_manager.infrastructure.runtimes.process.spawn import DeadlineError, Pipe, spawn

_log = logging.getLogger(__name__)

RESOLVER = "10.0.2.3"
_OWN = "10.0.2.0/24"
_TUN = "/dev/net/tun"
_RENEW_S = 10.0
_READY_FD, _EXIT_FD = 3, 4
_NAMESPACE = ("unshare", "--user", "--map-root-user", "--net")


def available() -> bool:
    """Whether the needed programs exist, this user may open the device of networks, and the kernel takes the rules that
    close this machine: without them there is no network rather than an open one."""
    reason = _missing() or trouble([*_NAMESPACE, "nft", rules(FilterExceptions.with_resolver(RESOLVER), [])])
    if reason is not None:
        _log.warning("sandboxes have no network", extra={"reason": reason})
    return reason is None


def _program(name: str) -> str | None:
    return shutil.which(name, path=SEARCHED)


def _missing() -> str | None:
    programs = [one for one in ("slirp4netns", "ip", "unshare", "nsenter", "nft") if _program(one) is None]
    if programs:
        return f"{', '.join(programs)} not installed"
    return None if os.access(_TUN, os.R_OK | os.W_OK) else f"{_TUN} is closed"


class NetworkRules:
    """The rules that keep every sandbox from this machine, whatever its addresses are just then, and from blocked
    networks.

    Blocking, for several threads.
    """

    def __init__(self, blocked_subnets: tuple[str, ...], fib_trie: Path) -> None:
        self._blocked = networks_of([_OWN, *blocked_subnets])
        self._host_networks = HostNetworks(fib_trie)
        self._renewing = threading.Lock()
        self._in_place: dict[ProcessRef, str] = {}
        self._failed: dict[ProcessRef, int] = {}

    def wanted(self) -> str:
        """The wanted rules. Only the DNS port of the network's own resolver is open: its other ports are those of the
        machine that resolves for this one, which may be this one. Raises `EngineUnavailableError`."""
        return rules(FilterExceptions.with_resolver(RESOLVER), [*self._blocked, *self._host_networks()])

    def renew(self, running: Mapping[ProcessRef, int | None]) -> None:
        """Renew the rules of all sandboxes with a network, by their first processes and the number of the network
        namespace each had at its start (None: not known), if they have changed.

        Failures, and sandboxes not reached in time, are left to the next call, which begins with those that failed
        least. One thread at a time does it; others return at once.
        """
        if not self._renewing.acquire(blocking=False):
            return
        try:
            self._renew(running, time.monotonic() + _RENEW_S)
        finally:
            self._renewing.release()

    def _renew(self, running: Mapping[ProcessRef, int | None], until: float) -> None:
        try:
            wanted = self.wanted() if running else ""
        except EngineUnavailableError as error:
            _log.error("rules not renewed", extra={"reason": error.detail})
            return
        self._in_place = {one: known for one, known in self._in_place.items() if one in running}
        self._failed = {one: times for one, times in self._failed.items() if one in running}
        for first in sorted(running, key=lambda one: self._failed.get(one, 0)):
            if self._in_place.get(first) == wanted:
                continue
            if time.monotonic() > until:
                _log.warning("rules not renewed in time")
                return
            refused = _set_rules(first, wanted, running[first])
            if refused is None:
                self._in_place[first] = wanted
                self._failed.pop(first, None)
            else:
                self._failed[first] = self._failed.get(first, 0) + 1
                if first.is_alive:
                    _log.warning("rules not renewed", extra={"pid": first.pid, "reason": refused})


def _set_rules(inside: ProcessRef, wanted: str, namespace: int | None) -> str | None:
    """Set the rules in the network namespace of a process, with the rights of its maker; returns the error, if any."""
    try:
        with namespace_entry(inside, "net", namespace) as entry:
            return entry.trouble(["nft", wanted])
    except OSError as error:
        return str(error)


def attach(
    pid: int,
    prefix: list[str],
    environment: dict[str, str],
    deadline_s: float,
    *,
    life: int,
    options: tuple[str, ...] = (),
) -> ProcessRef:
    """Attach a network to the namespace of a process and wait until it is configured. Raises `DeadlineError`.

    `life` is the reading end of a pipe the sandbox holds open: when it closes, the network ends by itself. `options`
    are more of slirp4netns's own.
    """
    ready = Pipe()
    command = [
        *prefix,
        "slirp4netns",
        "--configure",
        "--mtu=1400",
        "--disable-host-loopback",
        *options,
        f"--ready-fd={_READY_FD}",
        f"--exit-fd={_EXIT_FD}",
        "--netns-type=path",
        *_join(pid),
        f"/proc/{pid}/ns/net",
        "tap0",
    ]
    with ready:
        child = spawn(command, environment, files={_READY_FD: ready.writer, _EXIT_FD: life})
        ready.close_writer()
        if not ready.read(deadline_s, 1):
            _end(child)
            raise DeadlineError("the sandbox's network could not be set up")
    process = reference(child)
    if process is None:
        raise DeadlineError("the sandbox's network ended at once")
    return process


def _end(child: int) -> None:
    process = reference(child)
    if process is not None:
        process.kill()
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


def _join(pid: int) -> list[str]:
    return [] if os.geteuid() == 0 else [f"--userns-path=/proc/{pid}/ns/user"]
