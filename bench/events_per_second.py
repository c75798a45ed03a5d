"""How fast one 2,000-delta answer passes the gateway, from the model server's socket to the reader's.

.venv/bin/python bench/events_per_second.py
"""

from __future__ import annotations

import asyncio
import json
import time

from lean_http import LeanConnection
from setting import machine, percentile, scripted_stack

DELTAS = 2_000
WORDS = "".join(f"word{number} " for number in range(DELTAS))


async def answer(base_url: str) -> tuple[float, float]:
    """Deltas a second, from sending to message.completed, and from the first text on."""
    async with LeanConnection(base_url) as sender, LeanConnection(base_url) as listener:
        session = (await sender.post("/api/sessions", {"title": "measured"}))["id"]
        lines = listener.events(f"/api/sessions/{session}/events?after=0")
        began, first, kind = time.perf_counter(), 0.0, b""
        await sender.post(f"/api/sessions/{session}/messages", {"text": "hello"})
        async for line in lines:
            if line.startswith(b"event:"):
                kind = line[7:]
                first = first or (time.perf_counter() if kind == b"message.delta" else 0.0)
            elif kind == b"message.completed":
                ended = time.perf_counter()
                assert json.loads(line[5:])["text"].strip() == WORDS.strip(), "the answer is not whole"
                return DELTAS / (ended - began), DELTAS / (ended - first)
    raise AssertionError("the stream ended")


async def many(base_url: str, runs: int) -> list[tuple[float, float]]:
    return [await answer(base_url) for _ in range(runs)]


def main() -> None:
    print(machine())
    with scripted_stack(deltas=DELTAS) as stack:
        asyncio.run(many(stack.base_url, 3))
        rates = asyncio.run(many(stack.base_url, 15))
    for name, column in (("from sending", 0), ("from the first text on", 1)):
        values = [rate[column] for rate in rates]
        print(f"{name}: median {percentile(values, 0.5):.0f} deltas/s, min {min(values):.0f}, max {max(values):.0f}")


if __name__ == "__main__":
    main()
