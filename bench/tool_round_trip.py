"""A command's round trip through the endpoint of a real sandbox: `true` in a persistent shell.

.venv/bin/python bench/tool_round_trip.py [process|docker]
"""

from __future__ import annotations

import asyncio
import sys
import time

from contracts.sandboxes import EndpointToken, Scope
from sandbox import Manager, endpoint
from setting import machine, plain_stack, summary


async def measure(token: EndpointToken, calls: int) -> list[float]:
    times: list[float] = []
    async with endpoint(token) as http:
        for number in range(calls):
            began = time.perf_counter()
            body = {"call_id": f"bench-{time.monotonic_ns()}-{number}", "arguments": {"command": "true"}}
            answer = await http.post("/tools/shell_exec", json=body)
            times.append((time.perf_counter() - began) * 1000)
            assert '"success":true' in answer.text.replace(" ", ""), answer.text
    return times


def main() -> None:
    runtime = sys.argv[1] if len(sys.argv) > 1 else "process"
    print(machine())
    with plain_stack(SANDBOX_RUNTIME=runtime) as stack:
        manager = Manager.of(stack)
        sandbox = manager.create("bench-tools")
        token = manager.token(sandbox, Scope.EXEC)
        asyncio.run(measure(token, 20))
        print(summary(f"`true` through the endpoint ({runtime})", asyncio.run(measure(token, 200)), "ms"))
        manager.delete(sandbox)


if __name__ == "__main__":
    main()
