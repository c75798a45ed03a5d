"""How many pseudo-terminals a sandbox may have: all of the machine share what its kernel has of them."""

from __future__ import annotations

from sandbox_manager.infrastructure.runtimes.process.namespaces import entrance
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

MOST = 64
"""The tool API's shells are a quarter of it; the kernel has some 3,000 for all."""
# But for the number as bubblewrap mounts it, which would be forgotten otherwise.
_OPTIONS = f"remount,nosuid,noexec,mode=620,ptmxmode=666,max={MOST}"


def bound_terminals(first: ProcessRef) -> str | None:
    """Bound those of the sandbox with this first process; what went wrong, if anything did. Blocking."""
    try:
        with entrance(first, "mnt") as way:
            return way.trouble(["mount", "-i", "-n", "-t", "devpts", "-o", _OPTIONS, "devpts", "/dev/pts"])
    except OSError as error:
        return str(error)
