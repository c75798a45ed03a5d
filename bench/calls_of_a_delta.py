"""Calls of functions in a gateway with its worker inside for each piece of a model's text, up to its reader.

.venv/bin/python bench/calls_of_a_delta.py [most]     prints those that are called most

One session and one reader; the model says a piece each 40 ms, so that none is merged. What the process calls meanwhile
for itself is measured after the answer, and taken off. Unlike a time it is the same on a busy machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
import uvloop

from load import talk, talkers
from setting import ROOT, machine, paced_model
from support.fleet import SOURCES, Fleet, Shape, run_fleet

EVERY_MS = 40
DELTAS = 300
FIRST, LAST = 30, 230
QUIET_S = 8.0


class Calls:
    """Of one process, since it was last asked."""

    def __init__(self, pid: int, folder: Path) -> None:
        self._pid = pid
        self._folder = folder
        self._asked = 0

    async def since(self) -> Counter[str]:
        file = self._folder / str(self._asked)
        self._asked += 1
        os.kill(self._pid, signal.SIGUSR1)
        while not file.exists():  # noqa: ASYNC110 -- written by another process
            await asyncio.sleep(0.01)
        return Counter[str](json.loads(file.read_text()))


async def measure(fleet: Fleet, calls: Calls) -> tuple[float, Counter[str]]:
    """How many pieces the reader was sent, and what was called for them."""
    account = {"username": "counted", "password": "correct horse battery"}
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        token = (await http.post(f"{fleet.urls[0]}/api/auth/register", json=account)).json()["access_token"]
        (reader,) = await talkers(fleet, http, token, 1)
        talking = asyncio.create_task(talk([reader], 1, 0))

        async def until(deltas: int) -> tuple[int, float, Counter[str]]:
            while reader.listener.deltas < deltas:  # noqa: ASYNC110 -- its listener only counts
                await asyncio.sleep(0.005)
            return reader.listener.deltas, time.monotonic(), await calls.since()

        before, began, _ = await until(FIRST)
        after, ended, called = await until(LAST)
        await talking
        await calls.since()
        await asyncio.sleep(QUIET_S)
        quiet = await calls.since()
    for name, number in quiet.items():
        called[name] -= round(number * (ended - began) / QUIET_S)
    return after - before, called


async def run_counted(most: int) -> None:
    settings = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "sk-scripted", "MODEL": "scripted"}
    print(machine())
    with tempfile.TemporaryDirectory() as folder, paced_model(DELTAS, EVERY_MS) as url:
        counted = Path(folder, "calls")
        counted.mkdir()
        path = os.pathsep.join((str(ROOT / "bench" / "profiled"), SOURCES))
        settings |= {"OPENAI_BASE_URL": url, "CALLS_IN": str(counted), "PYTHONPATH": path}
        async with run_fleet(Path(folder), Shape(gateways=1, managers=0), settings) as fleet:
            deltas, called = await measure(fleet, Calls(fleet["gateway-1"].pid, counted))
    print(f"{called.total() / deltas:.0f} calls of functions a piece, {deltas} pieces of {LAST - FIRST}")
    for name, number in called.most_common(most):
        print(f"{number / deltas:8.2f}  {name}")


if __name__ == "__main__":
    uvloop.run(run_counted(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
