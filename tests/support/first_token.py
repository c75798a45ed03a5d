"""How long a person waits for the first piece of an answer; a process of its own, so that nothing beside it is timed.

python -m support.first_token URL TOKEN SECONDS      prints the milliseconds of each message, one a line
"""

from __future__ import annotations

import asyncio
import sys
import time

from support.api_client import ApiClient

PAUSE_S = 0.2


async def first_token_ms(client: ApiClient, session_id: str) -> float:
    """Of one message: from sending it to the first piece of text on the stream."""
    last = (await client.json("GET", f"/sessions/{session_id}"))["last_seq"]
    opened = asyncio.Event()
    first: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def listen() -> None:
        opened.set()
        async for event in client.events(session_id, after=last):
            if event["type"] in ("message.delta", "message.completed") and not first.done():
                first.set_result(time.perf_counter())
            if event["type"] == "run.finished":
                return

    listening = asyncio.create_task(listen())
    await opened.wait()
    began = time.perf_counter()
    await client.send(session_id, "hello")
    async with asyncio.timeout(60):
        await listening
    return (await first - began) * 1000


async def measure(url: str, token: str, seconds: float) -> None:
    async with ApiClient(url, token) as client:
        session_id = await client.new_session()
        for _ in range(3):
            await first_token_ms(client, session_id)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            print(f"{await first_token_ms(client, session_id):.1f}", flush=True)  # noqa: T201 - what it is for
            await asyncio.sleep(PAUSE_S)


if __name__ == "__main__":
    asyncio.run(measure(sys.argv[1], sys.argv[2], float(sys.argv[3])))
