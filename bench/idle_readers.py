"""Memory and processor time of the gateway for each idle reader of an event stream, each on a session of its own.

.venv/bin/python bench/idle_readers.py [readers]
"""

from __future__ import annotations

import asyncio
import resource
import sys

from setting import machine, plain_stack
from support.stream_load import idle_readers

READERS = 1000
WATCHED_S = 10.0


def allow_files(count: int) -> None:
    """As many open files as there are readers, and some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count + 500:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 500, hard), hard))


def main() -> None:
    readers = int(sys.argv[1]) if len(sys.argv) > 1 else READERS
    allow_files(readers)
    print(machine())
    with plain_stack(QUOTAS="streams=0", RATE_LIMITS="sessions=0") as stack:
        pid = stack.children()["gateway"]
        cost = asyncio.run(idle_readers(stack.base_url, pid, readers, watched_s=WATCHED_S))
    print(
        f"{cost.readers} idle readers: {cost.each_kb:.1f} KB each, "
        f"{cost.cpu_share * 100:.1f} % of a core together while nothing happens"
    )


if __name__ == "__main__":
    main()
