"""What a hello costs: the first message of a conversation that was not there before, against a scripted model server.

.venv/bin/python bench/fresh.py                        alone, 50 at once, processor time, and how large the request is
BENCH_ROOT=../before .venv/bin/python bench/fresh.py   the same of another checkout

The first word is that of the answer, from when its message is sent. The processor time is that of gateway, worker and
title, without the servers': all they take for such messages, less what they take with nobody talking.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time

import psutil

from lean_http import LeanConnection
from setting import ROOT, machine, scripted_stack, summary

IDLE_S = 3.0
SETTLED_S = 1.0
"""Until titles are written and streams are silent."""


async def first_word(base_url: str, start: asyncio.Event) -> float:
    """Of one fresh conversation, in ms, until its run is over."""
    async with LeanConnection(base_url) as sender, LeanConnection(base_url) as listener:
        session = (await sender.post("/api/sessions", {}))["id"]
        lines = listener.events(f"/api/sessions/{session}/events?after=0")
        await start.wait()
        began, first = time.perf_counter(), 0.0
        sending = asyncio.ensure_future(sender.post(f"/api/sessions/{session}/messages", {"text": "hello"}))
        async for line in lines:
            if not first and line.startswith((b"event: message.delta", b"event: message.completed")):
                first = time.perf_counter() - began
            if line.startswith(b"event: run.finished"):
                break
        await sending
        return first * 1000


async def alone(base_url: str, conversations: int) -> list[float]:
    start = asyncio.Event()
    start.set()
    return [await first_word(base_url, start) for _ in range(conversations)]


async def at_once(base_url: str, conversations: int) -> list[float]:
    start = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(first_word(base_url, start)) for _ in range(conversations)]
        await asyncio.sleep(SETTLED_S)
        start.set()
    return [task.result() for task in tasks]


def cpu_s(process: psutil.Process) -> float:
    used = process.cpu_times()
    return used.user + used.system


async def processor_ms(base_url: str, gateway: psutil.Process, conversations: int) -> float:
    """Of a message."""
    await asyncio.sleep(SETTLED_S)
    idle = cpu_s(gateway)
    await asyncio.sleep(IDLE_S)
    idle = (cpu_s(gateway) - idle) / IDLE_S
    before, began = cpu_s(gateway), time.perf_counter()
    await alone(base_url, conversations)
    await asyncio.sleep(SETTLED_S)
    return 1000 * (cpu_s(gateway) - before - idle * (time.perf_counter() - began)) / conversations


async def request_size(base_url: str) -> str:
    """Of the first request's prompt and tools, as they are recorded."""
    async with LeanConnection(base_url) as sender, LeanConnection(base_url) as listener:
        session = (await sender.post("/api/sessions", {}))["id"]
        await sender.post(f"/api/sessions/{session}/messages", {"text": "hello"})
        async for line in listener.events(f"/api/sessions/{session}/events?after=0"):
            if line.startswith(b"data: ") and b'"context.opened"' in line:
                told = json.loads(line[6:])
                opened = told.get("payload", told)
                return f"prompt {opened['system']['size']} bytes, tools {opened['tools']['size']} bytes"
            if line.startswith(b"event: run.finished"):
                break
    return "not told"


async def measure(base_url: str, pid: int, options: argparse.Namespace) -> None:
    await alone(base_url, 10)
    print(f"first request: {await request_size(base_url)}")
    print(summary("first word of a fresh conversation, alone", await alone(base_url, options.alone), "ms"))
    for _ in range(options.rounds):
        times = await at_once(base_url, options.at_once)
        print(summary(f"first word, {options.at_once} fresh conversations at once", times, "ms"))
    spent = await processor_ms(base_url, psutil.Process(pid), options.alone)
    print(f"processor time of a fresh message with its title: {spent:.1f} ms (n={options.alone})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alone", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(machine(), ROOT)
    with scripted_stack(deltas=20) as stack:
        asyncio.run(measure(stack.base_url, stack.children()["gateway"], options))


if __name__ == "__main__":
    main()
