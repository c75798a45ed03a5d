"""A limit on the pseudo-terminals of a sandbox: the kernel has a fixed number for the whole machine."""

from __future__ import annotations

from sandbox_manager.infrastructure.runtimes.process.namespaces import namespace_entry
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

MOST = 64
"""Terminals of a sandbox; the tool API's shells use a quarter of them. The kernel has some 3,000 for all."""
# As bubblewrap mounts it, but for `max`: a remount resets every option that it does not name.
_OPTIONS = f"remount,nosuid,noexec,mode=620,ptmxmode=666,max={MOST}"


def bound_terminals(first: ProcessRef) -> str | None:
    """Limit the terminals of the sandbox with this first process. Returns the error, None on success. Blocking."""
    try:
        with namespace_entry(first, "mnt") as entry:
            return entry.trouble(["mount", "-i", "-n", "-t", "devpts", "-o", _OPTIONS, "devpts", "/dev/pts"])
    except OSError as error:
        return str(error)
