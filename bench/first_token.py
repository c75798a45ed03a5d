"""Time from sending a message to its first piece of text on the stream, against a scripted model server on loopback.

.venv/bin/python bench/first_token.py
"""

from __future__ import annotations

import asyncio
import time

from lean_http import LeanConnection
from setting import machine, scripted_stack, summary


async def conversation(base_url: str, messages: int, start: asyncio.Event) -> list[float]:
    """First-token times (ms) of one session's messages, one after another."""
    times: list[float] = []
    async with LeanConnection(base_url) as sender, LeanConnection(base_url) as listener:
        session = (await sender.post("/api/sessions", {"title": "measured"}))["id"]
        lines = listener.events(f"/api/sessions/{session}/events?after=0")
        await start.wait()
        for _ in range(messages):
            began = time.perf_counter()
            sending = asyncio.ensure_future(sender.post(f"/api/sessions/{session}/messages", {"text": "hello"}))
            first = 0.0
            async for line in lines:
                if not first and line.startswith((b"event: message.delta", b"event: message.completed")):
                    first = time.perf_counter() - began
                if line.startswith(b"event: run.finished"):
                    break
            await sending
            times.append(first * 1000)
    return times


async def one_after_another(base_url: str, sessions: int, messages: int) -> list[float]:
    start = asyncio.Event()
    start.set()
    return [value for _ in range(sessions) for value in await conversation(base_url, messages, start)]


async def at_once(base_url: str, sessions: int, messages: int) -> list[float]:
    start = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(conversation(base_url, messages, start)) for _ in range(sessions)]
        await asyncio.sleep(0.5)
        start.set()
    return [value for task in tasks for value in task.result()]


def main() -> None:
    print(machine())
    with scripted_stack(deltas=20) as stack:
        asyncio.run(one_after_another(stack.base_url, 5, 6))
        print(summary("first token, alone", asyncio.run(one_after_another(stack.base_url, 15, 6)), "ms"))
        for sessions in (10, 50):
            times = asyncio.run(at_once(stack.base_url, sessions, 6))
            print(summary(f"first token, {sessions} conversations at once", times, "ms"))


if __name__ == "__main__":
    main()
