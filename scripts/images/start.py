"""Entry of the service images: see that MongoDB takes writes, then become the service named on the command line."""

from __future__ import annotations

import asyncio
import os
import sys

from local_stack.replica_set import ReplicaSet

TIMEOUT_S = 120


async def await_primary(member: str) -> None:
    """Wait until the set whose only member this is has a primary, made one where it is new."""
    replica_set = ReplicaSet(member)
    async with asyncio.timeout(TIMEOUT_S):
        while not await replica_set.is_primary():  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.2)


def main() -> None:
    # Only for a database of our own; a given one is somebody else's to set up.
    if member := os.environ.get("MONGO_REPLICA_SET_MEMBER"):
        try:
            asyncio.run(await_primary(member))
        except TimeoutError:
            sys.exit(f"MongoDB at {member} did not become writable within {TIMEOUT_S} s")
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])


if __name__ == "__main__":
    main()
