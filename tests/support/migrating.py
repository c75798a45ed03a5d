"""Brings the data of a database to this version, as every process does that starts: `python -m support.migrating URI
NAME`. For tests that kill it."""

from __future__ import annotations

import asyncio
import sys

from backend_api.main.stores import connect


async def _main(uri: str, name: str) -> None:
    async with connect(uri, name):
        sys.stdout.write("ready\n")


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
