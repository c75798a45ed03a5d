"""Development: a service whose sources changed is started anew."""

from __future__ import annotations

import asyncio
from pathlib import Path

from local_stack.supervisor import Supervisor

_INTERVAL_S = 0.5
_SOURCES = {
    "gateway": ("backend-api/src", "contracts/src", "service-kit/src"),
    "worker": ("backend-api/src", "contracts/src", "service-kit/src"),
    "manager": ("sandbox-manager/src", "contracts/src", "service-kit/src"),
}


async def restart_on_change(supervisor: Supervisor, root: Path) -> None:
    """Watch until cancelled. Sandboxes take new tool-api sources when they are created."""
    seen = _newest(root)
    while True:
        await asyncio.sleep(_INTERVAL_S)
        now = await asyncio.to_thread(_newest, root)
        changed = [name for name in _SOURCES if now[name] != seen[name] and supervisor.runs(name)]
        seen = now
        for name in changed:
            await supervisor.restart(name)


def _newest(root: Path) -> dict[str, tuple[int, int]]:
    newest: dict[str, tuple[int, int]] = {}
    for name, folders in _SOURCES.items():
        times = [path.stat().st_mtime_ns for folder in folders for path in (root / folder).rglob("*.py")]
        newest[name] = (len(times), max(times, default=0))
    return newest
