"""Sandbox from the create call to ready (desktop included), and its deletion.

.venv/bin/python bench/sandbox_create.py [process|docker]
"""

from __future__ import annotations

import sys
import time

from sandbox import Manager
from setting import machine, plain_stack, summary

ROUNDS = 8


def main() -> None:
    runtime = sys.argv[1] if len(sys.argv) > 1 else "process"
    print(machine())
    created: list[float] = []
    deleted: list[float] = []
    with plain_stack(SANDBOX_RUNTIME=runtime) as stack:
        manager = Manager.of(stack)
        manager.delete(manager.create("bench-warm-up"))
        for number in range(ROUNDS):
            began = time.perf_counter()
            sandbox = manager.create(f"bench-{number}")
            created.append(time.perf_counter() - began)
            began = time.perf_counter()
            manager.delete(sandbox)
            deleted.append(time.perf_counter() - began)
    print(summary(f"create to ready ({runtime})", created, "s"))
    print(summary(f"delete ({runtime})", deleted, "s"))


if __name__ == "__main__":
    main()
