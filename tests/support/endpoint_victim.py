"""The gateway's and the manager's clients of a sandbox as a process of their own, to be lied to and measured.

`python -m support.endpoint_victim` reads one order a line, `{"op": …, "socket": …}`, and answers each with what became
of it, by how many MB the process grew over it, and how long it took.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend_api.kit.errors import DomainError
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.ports import Upload
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sandbox_tools import CALL, ToolApiSandboxTools
from backend_api.sandboxes.tool_api.screens import ToolApiScreens
from backend_api.sandboxes.tool_api.workspace import FILES, FileBounds, ToolApiWorkspace
from contracts.sandboxes import EndpointToken
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.process import monitoring
from service_kit.bounded_http import Bounds
from support.gateway_sandboxes import a_sandbox, shell_call

ROOT = Path(__file__).resolve().parents[2]
WATCHED_S = 10.0
"""What has to end is waited for so long."""
GOES_ON_S = 2.0
"""What never ends is looked at for so long."""
_MB = 1024 * 1024
_COMPUTER = a_sandbox(has_desktop=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    op: str
    socket: str
    times: int
    watched_s: float


def hurried(bounds: Bounds) -> Bounds:
    """As in earnest, but that nobody is waited for as long."""
    return replace(
        bounds,
        head_s=1.0,
        whole_s=None if bounds.whole_s is None else 2.0,
        silent_s=None if bounds.silent_s is None else 1.0,
    )


@dataclass(frozen=True, slots=True)
class FixedTokens:
    """One address and one token, whatever is asked for."""

    address: str
    told: str = "token"

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        del scopes
        expires_at = datetime.now(UTC) + timedelta(seconds=300)
        return EndpointToken(
            token=self.told, expires_at=expires_at, endpoint=self.address, sandbox_id=sandbox.id, generation=1
        )

    def forget(self, sandbox: Sandbox) -> None:
        del sandbox


async def _call(endpoints: Endpoints, _: Order) -> str:
    shown = 0

    async def on_output(text: str) -> None:
        nonlocal shown
        shown += len(text)

    call = shell_call(on_output)
    outcome = await ToolApiSandboxTools(endpoints, hurried(CALL)).call(_COMPUTER, call)
    return f"{len(outcome.output)} characters, {shown} shown"


def _files(endpoints: Endpoints) -> ToolApiWorkspace:
    return ToolApiWorkspace(
        endpoints,
        FileBounds(
            listing=hurried(FILES.listing),
            preview=hurried(FILES.preview),
            download=hurried(FILES.download),
            upload=hurried(FILES.upload),
        ),
    )


async def _list(endpoints: Endpoints, _: Order) -> str:
    return f"{len(await _files(endpoints).list(_COMPUTER, ''))} entries"


async def _preview(endpoints: Endpoints, _: Order) -> str:
    return (await _files(endpoints).preview(_COMPUTER, "a.txt")).name


async def _download(endpoints: Endpoints, order: Order) -> str:
    taken = 0
    try:
        async with asyncio.timeout(order.watched_s), _files(endpoints).download(_COMPUTER, "a.bin") as download:
            async for chunk in download.chunks:
                taken += len(chunk)
    except TimeoutError:
        return "goes on"
    return f"{taken} bytes"


async def _upload(endpoints: Endpoints, _: Order) -> str:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield bytes(_MB)

    async def files() -> AsyncIterator[Upload]:
        yield Upload(name="a", chunks=chunks())

    return str(await _files(endpoints).upload(_COMPUTER, "", files()))


async def _screen(endpoints: Endpoints, order: Order) -> str:
    taken = 0
    try:
        async with asyncio.timeout(order.watched_s), ToolApiScreens(endpoints).open(_COMPUTER, control=False) as screen:
            async for frame in screen.frames():
                taken += len(frame)
                # A viewer takes what is shown at a pace of its own.
                await asyncio.sleep(0.01)
    except TimeoutError:
        return "goes on"
    return "ended"


async def _keep_alive(_: Endpoints, order: Order) -> str:
    return str(await monitoring.keep_alive("sandbox-1", Path(order.socket), "token"))


_OPS: dict[str, Callable[[Endpoints, Order], Awaitable[str]]] = {
    "call": _call,
    "list": _list,
    "preview": _preview,
    "download": _download,
    "upload": _upload,
    "screen": _screen,
    "keep_alive": _keep_alive,
}


def _waited_s() -> float:
    """How long this thread has stood in line for a processor, as other work of the machine is no hold of ours.

    Source: Documentation/scheduler/sched-stats.rst of Linux, /proc/<pid>/schedstat.
    """
    return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9


def _memory(name: str) -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(f"{name}:"))) / 1024


async def _obey(order: Order) -> dict[str, object]:
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, began = _memory("VmRSS"), time.monotonic()
    longest_hold, ended = 0.0, False

    async def feel() -> None:
        nonlocal longest_hold
        while not ended:
            asked, waited = time.monotonic(), _waited_s()
            await asyncio.sleep(0.01)
            longest_hold = max(longest_hold, time.monotonic() - asked - 0.01 - (_waited_s() - waited))

    feeling = asyncio.create_task(feel())
    outcome, socket = "", order.socket
    async with Endpoints(FixedTokens(f"unix:{socket}" if socket.startswith("/") else socket)) as endpoints:
        for _ in range(order.times):
            try:
                outcome = await _OPS[order.op](endpoints, order)
            except (DomainError, EngineUnavailableError) as error:
                outcome = type(error).__name__
    ended = True
    await feeling
    return {
        "outcome": outcome,
        "grew_mb": round(_memory("VmHWM") - before, 1),
        "seconds": round(time.monotonic() - began, 2),
        "held_s": round(longest_hold, 3),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """What became of an order; `held_s` is the longest that nobody else in the process had a turn,
    less what the process itself waited for a processor."""

    outcome: str
    grew_mb: float
    seconds: float
    held_s: float


class Victim:
    """The process, from outside."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def obey(self, op: str, address: str | Path, times: int = 1, watched_s: float = WATCHED_S) -> Harm:
        """Blocks until it is done: call it in a thread of one's own."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = Order(op=op, socket=str(address), times=times, watched_s=watched_s)
        self._process.stdin.write(json.dumps(asdict(order)) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the process ended"
        return Harm(**json.loads(line))


@contextmanager
def victim(log: Path) -> Generator[Victim]:
    """A fresh process; ended at the end. What it logs goes to the file."""
    sources = ["backend-api/src", "sandbox-manager/src", "contracts/src", "service-kit/src", "tests"]
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(str(ROOT / one) for one in sources)}
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "support.endpoint_victim"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield Victim(process)
        finally:
            process.kill()
            process.wait(30)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s %(sandbox_id)s", stream=sys.stderr)
    # It takes none as an argument.
    setattr(monitoring, "_BOUNDS", hurried(vars(monitoring)["_BOUNDS"]))  # noqa: B010
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            harm = runner.run(_obey(Order(**json.loads(line))))
            sys.stdout.write(json.dumps(harm) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
