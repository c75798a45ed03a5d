"""Keep-alive calls, resource usage and ends of process sandboxes, through their sockets, cgroups and /proc."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import stat
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import Report, Usage
from sandbox_manager.infrastructure.runtimes.process.limits import Limits
from sandbox_manager.infrastructure.runtimes.sandbox_profile import LONGEST_ANSWER, report_of
from service_kit.bounded_http import BoundedHttp, Bounds, TransportError, tcp_or_socket

_ANSWER_S = 4.0
_BOUNDS = Bounds(body_bytes=LONGEST_ANSWER, head_s=_ANSWER_S, whole_s=_ANSWER_S)
_LOOK_S = 0.5
_SILENT = "The sandbox does not answer."
# Nothing is encrypted here; without it the client would load the machine's certificates for each call.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def keep_alive(sandbox_id: str, endpoint: Path, token: str) -> Report:
    """Call the endpoint. Raises `EngineUnavailableError`."""
    try:
        held = os.open(endpoint, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise EngineUnavailableError(_SILENT) from error
    try:
        if not stat.S_ISSOCK(os.fstat(held).st_mode):
            raise EngineUnavailableError(_SILENT)
        transport = tcp_or_socket(socket_path=f"/proc/self/fd/{held}", certificates=_NO_TLS)
        http = BoundedHttp(
            transport, base_url="http://endpoint", connect_s=_ANSWER_S, fields={"sandbox_id": sandbox_id}
        )
        try:
            answer = await http.ask("POST", "/keep-alive", _BOUNDS, headers={"Authorization": f"Bearer {token}"})
        finally:
            await http.aclose()
        if not answer.is_success:
            raise EngineUnavailableError(_SILENT)
        return report_of(answer.content.decode("utf-8", "replace"))
    except TransportError as error:
        raise EngineUnavailableError(_SILENT) from error
    finally:
        os.close(held)


async def endings(running: Callable[[], set[str]]) -> AsyncGenerator[str]:
    """Ids of sandboxes that have ended, found by polling: a look at /proc is cheap."""
    known = await asyncio.to_thread(running)
    while True:
        await asyncio.sleep(_LOOK_S)
        present = await asyncio.to_thread(running)
        for sandbox_id in known - present:
            yield sandbox_id
        known = present


def usage(limits: Limits, sandbox_id: str, memory_limit: int) -> Usage:
    """The usage by the cgroup files; None where there are none."""
    folders = {one.parent.parent.name: one for one in limits.folders(sandbox_id)}
    unified = folders.get("cgroup")
    if unified is not None:
        micros = _field(unified / "cpu.stat", "usage_usec")
        return Usage(
            cpu_s=None if micros is None else micros / 1e6,
            memory_bytes=_number(unified / "memory.current"),
            memory_limit_bytes=memory_limit,
            pids=_number(unified / "pids.current"),
        )
    nanos = _number(folders["cpuacct"] / "cpuacct.usage") if "cpuacct" in folders else None
    return Usage(
        cpu_s=None if nanos is None else nanos / 1e9,
        memory_bytes=_number(folders["memory"] / "memory.usage_in_bytes") if "memory" in folders else None,
        memory_limit_bytes=memory_limit,
        pids=_number(folders["pids"] / "pids.current") if "pids" in folders else None,
    )


def _number(file: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text())
    return None


def _field(file: Path, name: str) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return next((int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith(name)), None)
    return None
