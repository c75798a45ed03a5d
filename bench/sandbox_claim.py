"""A sandbox of the warm pool, from the create call to the answer of its first command, step by step; its deletion, and
what one takes while idle.

.venv/bin/python bench/sandbox_claim.py [process|docker]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import defaultdict

from computer import Manager, door
from contracts.sandboxes import Scope
from setting import machine, plain_stack, summary

ROUNDS = 10
BOOT_S = 60.0


async def first_command(manager: Manager, sandbox: str, spent: dict[str, list[float]]) -> None:
    began = time.perf_counter()
    token = manager.token(sandbox, Scope.EXEC)
    spent["token"].append(_ms(began))
    began = time.perf_counter()
    async with door(token) as http:
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
    with plain_stack(SANDBOX_RUNTIME=runtime, SANDBOX_POOL_SIZE="1") as stack:
        manager = Manager.of(stack)
        memory = 0
        for number in range(ROUNDS + 1):
            manager.await_warm(1, BOOT_S)
            began = time.perf_counter()
            sandbox = manager.ask(f"bench-{number}")
            claimed = _ms(began)
            asyncio.run(first_command(manager, sandbox, spent))
            spent["claim"].append(claimed)
            spent["claim to first answer"].append(_ms(began))
            if number == ROUNDS:
                time.sleep(5)
                memory = manager.memory(sandbox)
            began = time.perf_counter()
            manager.delete(sandbox)
            spent["delete"].append(_ms(began))
    for name, times in spent.items():
        print(summary(f"{name} ({runtime})", times[1:], "ms"))
    print(f"idle with its desktop ({runtime}): {memory / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
