"""The strictest confinement of slirp4netns, which parses all a sandbox sends, on this machine: tried out, not
guessed."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from sandbox_manager.infrastructure.runtimes.process import network
from sandbox_manager.infrastructure.runtimes.process.spawn import DeadlineError, Pipe, spawn

_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"}
_TRY_S = 5.0
_END_S = 2.0
_LOOK_S = 0.01
_READY_FD, _LIFE_FD = 3, 4
_HOLDER = f'echo "$$" >&{_READY_FD}; exec {_READY_FD}>&-; exec cat'
SANDBOX, SECCOMP = "--enable-sandbox", "--enable-seccomp"
# A root of its own without capabilities, and a filter of system calls. An ordinary user's can't always have the first.
CANDIDATES = ((SANDBOX, SECCOMP), (SECCOMP,), (SANDBOX,))


def find_strictest_options() -> tuple[str, ...]:
    """The first candidate options that a network can be set up with; empty if there are none. Blocking, for seconds."""
    return next((options for options in CANDIDATES if _is_usable(options)), ())


def unprivileged() -> list[str]:
    """Command prefix of slirp4netns: root's drops its capabilities by itself.

    Its sandbox unmounts all but a few folders in a copy of the mounts in which it has made only the topmost one
    private: mounts below any other shared one would be unmounted on the host as well. So root's runs in a copy in which
    none is shared.
    """
    if os.geteuid() == 0:
        return ["unshare", "--mount", "--propagation", "private", "--"]
    return ["setpriv", "--no-new-privs", "--"]


def _is_usable(options: tuple[str, ...]) -> bool:
    with Pipe() as hold, Pipe() as ready, Pipe() as life:
        files = {0: hold.reader, _READY_FD: ready.writer, _LIFE_FD: life.writer}
        command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", _HOLDER]
        try:
            holder = spawn(command, _ENVIRONMENT, files=files)
        except (OSError, DeadlineError):
            return False
        ready.close_writer()
        life.close_writer()
        try:
            ready.read_until(b"\n", _TRY_S)
            attached = network.attach(holder, unprivileged(), _ENVIRONMENT, _TRY_S, life=life.reader, options=options)
        except (OSError, DeadlineError):
            return False
        finally:
            hold.close_writer()
            _reap(holder)
        _reap(attached.pid)
    return True


def _reap(child: int) -> None:
    """Collect a child of ours, which is killed if it does not end soon."""
    until = time.monotonic() + _END_S
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
            time.sleep(_LOOK_S)
