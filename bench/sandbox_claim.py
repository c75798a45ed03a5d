"""A sandbox of the warm pool, from the create call to the answer of its first command, step by step; its deletion, and
what one takes while idle.

.venv/bin/python bench/sandbox_claim.py [process|docker]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import defaultdict

from contracts.sandboxes import Scope
from sandbox import Manager, endpoint
from setting import machine, plain_stack, summary

ROUNDS = 11
BOOT_S = 60.0
WOKEN_S = 1.0
LIMITS = ("SANDBOX_MAX_PER_USER", "SANDBOX_MAX_PER_USER_TOTAL", "SANDBOX_MAX_TOTAL")


async def first_command(manager: Manager, sandbox: str, spent: dict[str, list[float]]) -> None:
    began = time.perf_counter()
    token = manager.token(sandbox, Scope.EXEC)
    spent["token"].append(_ms(began))
    began = time.perf_counter()
    async with endpoint(token) as http:
        body = {"call_id": f"bench-{time.monotonic_ns()}", "arguments": {"command": "true"}}
        answer = await http.post("/tools/shell_exec", json=body)
    spent["first command"].append(_ms(began))
    assert '"success":true' in answer.text.replace(" ", ""), answer.text


def _ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def main() -> None:
    runtime = sys.argv[1] if len(sys.argv) > 1 else "process"
    print(machine())
    spent: dict[str, list[float]] = defaultdict(list)
    roomy = {"SANDBOX_POOL_SIZE": str(ROUNDS)} | dict.fromkeys(LIMITS, "50")
    with plain_stack(SANDBOX_RUNTIME=runtime, **roomy) as stack:
        manager = Manager.of(stack)
        manager.await_warm(ROUNDS, BOOT_S * ROUNDS)
        # Each once the desktop of the last one has woken up, and before the pool is filled again: two seconds after.
        sandboxes: list[str] = []
        for number in range(ROUNDS):
            began = time.perf_counter()
            sandboxes.append(manager.ask(f"bench-{number}"))
            spent["claim"].append(_ms(began))
            asyncio.run(first_command(manager, sandboxes[-1], spent))
            spent["claim to first answer"].append(_ms(began))
            time.sleep(WOKEN_S)
        memory, phases = manager.memory(sandboxes[-1]), manager.phases()
        for sandbox in sandboxes:
            began = time.perf_counter()
            manager.delete(sandbox)
            spent["delete"].append(_ms(began))
    for name, times in spent.items():
        print(summary(f"{name} ({runtime})", times[1:], "ms"))
    # Those of a claim begin when its record is stored: its endpoint has answered, its new record is stored too.
    line = ", ".join(f"{phase} {phases[phase]:.1f} ms" for phase in ("claimed", "total") if phase in phases)
    print(f"in the manager, means with the first ({runtime}): {line}")
    print(f"idle with its desktop ({runtime}): {memory / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
