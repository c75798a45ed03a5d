"""Confinement of process sandboxes and their networks beyond namespaces; missing parts are logged at the start."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.process import seccomp, slirp

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """The system call filter of every sandbox (empty for none), and the options of slirp4netns."""

    seccomp: bytes = b""
    network_options: tuple[str, ...] = ()


def confinement_here(seccomp_profile: Path, *, has_network: bool) -> Confinement:
    """The confinement that this machine and user allow. Blocking, for seconds at worst."""
    filtered, options = b"", ()
    try:
        filtered = seccomp.loadable(seccomp_profile)
    except seccomp.FilterError as error:
        _log.warning("sandboxes have no seccomp filter: all system calls are allowed", extra={"reason": str(error)})
    if has_network:
        options = slirp.find_strictest_options()
        lacking = [one for one in slirp.CANDIDATES[0] if one not in options]
        if lacking:
            _log.warning("slirp4netns can't be fully confined here", extra={"without": lacking})
    return Confinement(seccomp=filtered, network_options=options)
