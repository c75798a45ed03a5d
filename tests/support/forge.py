"""Starts services in a fraction of a second: by forking a process that has imported all of them and done nothing else.

What is forked is a process of its own like any other; only the seconds Python takes to import are saved, which would
be most of a test that kills and restarts something each second. `python -m support.forge MODULE...` is the process
that is forked; orders come in and news go out as JSON lines.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_START_S = 60.0
_PR_SET_PDEATHSIG = 1


class Forged:
    """A forked service; as much of `subprocess.Popen` as the fleet needs."""

    def __init__(self, forge: Forge, pid: int) -> None:
        self._forge = forge
        self.pid = pid

    def poll(self) -> int | None:
        return self._forge.status(self.pid)

    def wait(self, timeout: float) -> int:
        return self._forge.wait(self.pid, timeout)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forge:
    """A context manager; all that was forked dies with it."""

    def __init__(self, modules: Sequence[str], environ: Mapping[str, str]) -> None:
        self._command = [sys.executable, "-m", "support.forge", *modules]
        plain = {name: value for name, value in environ.items() if name != "TMPDIR"}
        self._environ = {**plain, "PYTHONPATH": os.pathsep.join([str(_ROOT / "tests"), environ["PYTHONPATH"]])}
        self._news = threading.Condition()
        self._begun: list[int] = []
        self._ended: dict[int, int] = {}

    def __enter__(self) -> Forge:
        self._process = subprocess.Popen(
            self._command, env=self._environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._listener.join(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def start(self, words: Sequence[str], environ: Mapping[str, str], log: Path) -> Forged:
        """Run a module with its arguments as `python -m` does, its output in a file."""
        assert self._process.stdin is not None
        order = {"words": [*words], "environ": dict(environ), "log": str(log)}
        with self._news:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            if not self._news.wait_for(lambda: self._begun, _START_S):
                raise AssertionError(f"{words[0]} was not forked")
            return Forged(self, self._begun.pop())

    def status(self, pid: int) -> int | None:
        with self._news:
            return self._ended.get(pid)

    def wait(self, pid: int, timeout: float) -> int:
        with self._news:
            if not self._news.wait_for(lambda: pid in self._ended, timeout):
                raise subprocess.TimeoutExpired(str(pid), timeout)
            return self._ended[pid]

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            news: dict[str, Any] = json.loads(line)
            with self._news:
                if "begun" in news:
                    self._begun.append(news["begun"])
                else:
                    self._ended[news["ended"]] = news["status"]
                self._news.notify_all()


def _ignore(_number: int, _frame: object) -> None:
    """The descriptor of `set_wakeup_fd` is what wakes."""


def main(modules: Sequence[str]) -> None:
    """Fork on order until the orders end."""
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    children: set[int] = set()
    awake, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, _ignore)
    signal.set_wakeup_fd(wake)
    rest = b""
    while True:
        readable, _, _ = select.select([0, awake], [], [])
        if awake in readable:
            os.read(awake, 4096)
        _reap(children)
        if 0 not in readable:
            continue
        piece = os.read(0, 1 << 16)
        if not piece:
            break
        *orders, rest = (rest + piece).split(b"\n")
        for order in orders:
            pid = os.fork()
            if pid == 0:
                _become(json.loads(order))
            children.add(pid)
            _tell({"begun": pid})
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while children and time.monotonic() < deadline:
        _reap(children)
        time.sleep(0.01)


def _reap(children: set[int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        children.discard(pid)
        _tell({"ended": pid, "status": os.waitstatus_to_exitcode(status)})


def _tell(news: dict[str, int]) -> None:
    os.write(1, json.dumps(news).encode() + b"\n")


def _become(order: dict[str, Any]) -> None:
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        output = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 64)
        os.chdir(Path(order["log"]).parent)
        os.environ.clear()
        os.environ.update(order["environ"])
        sys.argv = order["words"]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    except BaseException:  # noqa: BLE001 -- the edge of the process
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
