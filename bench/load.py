"""Many sessions at once against a model that says one piece of text each 20 ms: first token, slowdown, memory.

.venv/bin/python bench/load.py             1 gateway and 2 with the worker inside, then 2 gateways and 2 workers
.venv/bin/python bench/load.py --fleet 2+2 --sessions 10 --minutes 30

A session sends its next message when the answer to the last one has ended. Sessions start spread over the length of
one answer (`spread`), which is how people come, or all in the same moment (`burst`).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import httpx
import psutil
import uvloop

from setting import NO_LIMITS, machine, paced_model, percentile, summary
from support.fleet import Fleet, Shape, run_fleet

EVERY_MS = 20
_DELTA = b"event: message.delta"
_FINISHED = b"event: run.finished"
SHAPES = {
    "1": Shape(gateways=1, managers=0),
    "2": Shape(gateways=2, managers=0),
    "2+2": Shape(gateways=2, workers=2, managers=0),
}
NAMES = {"1": "1 gateway, worker inside", "2": "2 gateways, workers inside", "2+2": "2 gateways, 2 workers"}


@dataclass(slots=True)
class Timing:
    """One message: milliseconds to its first text and to the end of its run."""

    first: float
    whole: float


class Listener(asyncio.Protocol):
    """Follows a session's stream and looks for two names in the bytes, no more."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._rest = b""
        self._transport: asyncio.BaseTransport | None = None
        self.following: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.first = 0.0
        self.deltas = 0
        self.finished: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def begin(self) -> None:
        self.first, self._rest = 0.0, b""
        self.finished = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        cast("asyncio.Transport", transport).write(self._request)

    def leave(self) -> None:
        assert self._transport is not None
        self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.finished.done():
            self.finished.cancel("the stream ended")

    def data_received(self, data: bytes) -> None:
        if not self.following.done():
            self.following.set_result(None)
        seen = self._rest + data
        if found := seen.count(_DELTA):
            self.deltas += found
            self.first = self.first or time.perf_counter()
        if _FINISHED in seen and not self.finished.done():
            self.finished.set_result(time.perf_counter())
        # A name may be cut in two; what is kept is too short to be counted again.
        self._rest = seen[1 - len(_DELTA) :]


@dataclass(slots=True)
class Talker:
    """One session: what it sends goes to one gateway, what it reads comes from any."""

    http: httpx.AsyncClient
    url: str
    session: str
    token: str
    listener: Listener
    timings: list[Timing] = field(default_factory=list[Timing])

    async def say(self) -> None:
        self.listener.begin()
        began = time.perf_counter()
        path = f"{self.url}/api/sessions/{self.session}/messages"
        answer = await self.http.post(path, json={"text": "go on"}, headers={"Authorization": f"Bearer {self.token}"})
        assert answer.status_code == 202, answer.text
        async with asyncio.timeout(120):
            ended = await self.listener.finished
        self.timings.append(Timing((self.listener.first - began) * 1000, (ended - began) * 1000))

    async def leave(self) -> None:
        self.listener.leave()
        path = f"{self.url}/api/sessions/{self.session}"
        (await self.http.delete(path, headers={"Authorization": f"Bearer {self.token}"})).raise_for_status()


async def talkers(fleet: Fleet, http: httpx.AsyncClient, token: str, count: int) -> list[Talker]:
    found: list[Talker] = []
    for number in range(count):
        url = fleet.urls[number % len(fleet.urls)]
        # With a title: a model asked for one would say as many pieces again, which nobody reads.
        made = await http.post(
            f"{url}/api/sessions", json={"title": "load"}, headers={"Authorization": f"Bearer {token}"}
        )
        session = made.json()["id"]
        other = urlsplit(fleet.urls[(number + 1) % len(fleet.urls)])
        request = (
            f"GET /api/sessions/{session}/events?after=0 HTTP/1.1\r\nHost: {other.netloc}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n"
        )
        listener = Listener(request.encode())
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda one=listener: one, other.hostname, other.port)
        await listener.following
        found.append(Talker(http, url, session, token, listener))
    return found


async def talk(people: Sequence[Talker], rounds: int, spread_s: float) -> None:
    """Each says so many things, one after another."""

    async def one(talker: Talker, begin_s: float) -> None:
        await asyncio.sleep(begin_s)
        for _ in range(rounds):
            await talker.say()

    async with asyncio.TaskGroup() as group:
        for number, talker in enumerate(people):
            group.create_task(one(talker, spread_s * number / len(people)))


class Usage:
    """Processor time and memory of the services."""

    def __init__(self, fleet: Fleet) -> None:
        members = [*fleet.kind("gateway"), *fleet.kind("worker"), fleet["mongod"], fleet["redis"]]
        self._processes = {member.name: psutil.Process(member.pid) for member in members}
        self._cpu = self._now()

    def cpu_s(self) -> dict[str, float]:
        """Since the last look."""
        before, self._cpu = self._cpu, self._now()
        return {name: self._cpu[name] - before[name] for name in before}

    def mib(self) -> dict[str, int]:
        return {name: process.memory_info().rss >> 20 for name, process in self._processes.items()}

    def _now(self) -> dict[str, float]:
        return {name: sum(process.cpu_times()[:2]) for name, process in self._processes.items()}


async def measure(fleet: Fleet, options: argparse.Namespace) -> None:
    answer_s = options.deltas * EVERY_MS / 1000
    # A connection is left before the gateway closes it, which it does after five seconds: as long as an answer takes.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=200, keepalive_expiry=2)
    async with httpx.AsyncClient(timeout=60, trust_env=False, limits=limits) as http:
        account = {"username": f"load{random.getrandbits(32)}", "password": "correct horse battery"}
        token = (await http.post(f"{fleet.urls[0]}/api/auth/register", json=account)).json()["access_token"]
        (alone,) = await talkers(fleet, http, token, 1)
        await talk([alone], 3, 0)
        wholes = sorted(timing.whole for timing in alone.timings[1:])
        usual = wholes[len(wholes) // 2]
        firsts = sorted(timing.first for timing in alone.timings[1:])
        print(f"  alone: first token {firsts[0]:.1f} ms, answer {usual:.0f} ms, {answer_s * 1000:.0f} of it pacing")
        people = await talkers(fleet, http, token, options.sessions)
        usage = Usage(fleet)
        for name, rounds, spread_s in (("spread", options.rounds, answer_s), ("burst", 1, 0.0)):
            for talker in people:
                talker.timings.clear()
                talker.listener.deltas = 0
            usage.cpu_s()
            began = time.perf_counter()
            await talk(people, rounds, spread_s)
            took = time.perf_counter() - began
            report(name, people, usual, usage.cpu_s(), took)
        print(f"  memory (MiB): {usage.mib()}")
        if options.minutes:
            new_people = partial(talkers, fleet, http, token, options.sessions)
            await soak(new_people, usage, options.minutes, answer_s)


def report(name: str, people: Sequence[Talker], usual: float, cpu: dict[str, float], took: float) -> None:
    timings = [timing for talker in people for timing in talker.timings]
    slower = [100 * (timing.whole / usual - 1) for timing in timings]
    print(f"  {name}: " + summary(f"{len(people)} sessions, first token", [timing.first for timing in timings], "ms"))
    print(
        f"  {name}: slower than alone: p50 {percentile(slower, 0.5):.1f} %, p95 {percentile(slower, 0.95):.1f} %, "
        f"most {max(slower):.1f} %; frames a second {sum(talker.listener.deltas for talker in people) / took:.0f}"
    )
    share = ", ".join(f"{member} {100 * seconds / took:.0f} %" for member, seconds in cpu.items())
    ours = sum(seconds for member, seconds in cpu.items() if member.startswith(("gateway", "worker")))
    print(f"  {name}: cores used: {share}; {1000 * ours / len(timings):.1f} ms of ours a message with its answer")


async def soak(
    new_people: Callable[[], Awaitable[list[Talker]]], usage: Usage, minutes: float, answer_s: float
) -> None:
    """Memory while it goes on. Each minute has sessions of its own, so that none grows without end."""
    began = time.monotonic()
    while time.monotonic() - began < minutes * 60:
        people = await new_people()
        await talk(people, max(int(60 / answer_s), 1), answer_s)
        for talker in people:
            await talker.leave()
        print(f"  after {(time.monotonic() - began) / 60:.1f} min: memory (MiB): {usage.mib()}", flush=True)


async def run_load(options: argparse.Namespace) -> None:
    settings = {
        "LLM_PROVIDER": "openai",
        "OPENAI_API_KEY": "sk-scripted",
        "MODEL": "scripted",
        "MAX_TOKEN_BUDGET": "1000000000",
        **NO_LIMITS,
        "MAX_CONCURRENT_RUNS": "200",
        **dict(pair.split("=", 1) for pair in options.set),
    }
    print(machine())
    for size in options.fleet:
        print(f"{NAMES[size]}, {options.sessions} sessions, one piece of text each {EVERY_MS} ms:")
        with tempfile.TemporaryDirectory() as folder, paced_model(options.deltas, EVERY_MS) as url:
            async with run_fleet(Path(folder), SHAPES[size], {**settings, "OPENAI_BASE_URL": url}) as fleet:
                if options.pids:
                    print({member.name: member.pid for member in fleet.services}, flush=True)
                await measure(fleet, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--deltas", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=0.0, help="go on for so long, and say what memory is used")
    parser.add_argument("--fleet", action="append", choices=SHAPES, default=None)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the services")
    parser.add_argument("--pids", action="store_true", help="say the services' process ids, for a profiler")
    options = parser.parse_args()
    options.fleet = options.fleet or list(SHAPES)
    uvloop.run(run_load(options))


if __name__ == "__main__":
    main()
