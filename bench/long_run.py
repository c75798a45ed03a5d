"""A run of 300 turns, each with a tool call: processor time of ours a turn, memory, and how much of what is sent stays.

.venv/bin/python bench/long_run.py [turns]
.venv/bin/python bench/long_run.py --by-package [turns]   samples where that time goes, which itself takes some

The worker is at work in this process, on a real MongoDB and Redis; the model server has one of its own. Half-way
the worker ends, and another one goes on that knows nothing of the run but its log.
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
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

import uvloop

from backend_api.agent.events import MessageUser
from backend_api.agent.model import ModelInfo
from backend_api.agent.options import Options
from backend_api.agent.tool import Done, ToolCall
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.wire.calls import ModelCalls, RetryPolicy
from backend_api.runs.application.run_services import RunOptions, RunServices
from backend_api.runs.application.worker import Worker
from backend_api.runs.capabilities import capabilities
from setting import machine
from support.backend_stores import ANNA, ConversationStores, LiveChannels, mongo_stores, redis_channels
from support.model_server import Answer, Call, ModelServer
from support.scripted import HandlerBox, OneModel, OnOutput
from support.servers import run_mongod, run_redis

TURNS = 300
DELTAS = 20
RESULT_CHARACTERS = 2_000
OURS = "this project"
EARLY = 40
"""The turn after which memory is told first."""
INFO = ModelInfo(id="scripted", label="Scripted", provider="test")


@dataclass
class Turns:
    """What each turn took, told by its tool call."""

    wanted: int
    taken: int = 0
    processor_s: list[float] = field(default_factory=list[float])
    mib: list[float] = field(default_factory=list[float])
    half_way: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(self, call: ToolCall, arguments: dict[str, Any], on_output: OnOutput) -> Done:
        self.taken += 1
        self.processor_s.append(time.process_time())
        if self.taken in (EARLY, self.wanted):
            # Reading it costs as much as a command of Redis, so it is not read in each turn.
            self.mib.append(resident_mib())
        if self.taken == self.wanted // 2:
            self.half_way.set()
        if self.taken == self.wanted:
            self.is_over.set()
        return Done(success=True, output=f"{self.taken}: ".ljust(RESULT_CHARACTERS, "x"))

    def ms(self, first: int, last: int) -> float:
        """Median of ours a turn between these two."""
        times = self.processor_s[first - 1 : last]
        return median((after - before) * 1000 for before, after in pairwise(times))


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Samples:
    """Of the processor time in turns that are counted: in whose code it went, a look each millisecond of it.

    A look counts for the innermost frame outside the standard library: what a driver does with the loop is its own.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.looks: Counter[str] = Counter()

    def begin(self) -> None:
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)

    def _look(self, _: int, frame: FrameType | None) -> None:
        if 20 <= self._turns.taken < self._turns.wanted:
            self.looks[owner_of(frame)] += 1


def owner_of(frame: FrameType | None) -> str:
    """The package that a frame, or the nearest one around it, belongs to."""
    while frame is not None:
        _, is_installed, path = frame.f_code.co_filename.partition("/site-packages/")
        if is_installed:
            return path.split("/")[0].removesuffix(".py")
        if "/src/" in frame.f_code.co_filename:
            return OURS
        frame = frame.f_back
    return "the loop"


def same_beginning(first: bytes, second: bytes) -> int:
    """How many bytes, found by halves: a long request is compared at each turn."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[:middle] == second[:middle] else (low, middle - 1)
    return low


async def serve(told: Path) -> None:
    """Ask for one call after the other, and write down which share of each request began the one before it."""
    last = b""
    with told.open("w") as lines:

        def respond(body: dict[str, Any]) -> Answer:
            nonlocal last
            request = json.dumps(body["messages"], ensure_ascii=False).encode()[:-1]
            lines.write(f"{same_beginning(last, request) / len(request)}\n")
            lines.flush()
            last = request
            call = Call(name="look", id=f"call_{len(body['messages'])}")
            return Answer(texts=[f"word{number} " for number in range(DELTAS)], calls=[call], usage=(10, 0, 2))

        async with ModelServer(respond=respond, is_strict=False) as server:
            sys.stdout.write(f"{server.openai_url}\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


@asynccontextmanager
async def served(told: Path):
    server = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--serve", str(told), stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    try:
        yield (await server.stdout.readline()).decode().strip()
    finally:
        server.terminate()
        await server.wait()


def worker(name: str, model: OpenAiChatModel, stores: ConversationStores, live: LiveChannels, turns: Turns) -> Worker:
    tools, numbers = HandlerBox(), count(1)
    tools.add("look", turns.look)
    calls = ModelCalls(model, "test", RetryPolicy())
    services = RunServices(
        ledger=stores.ledger,
        log=stores.log,
        stream=live.stream,
        notifier=live.notifier,
        sessions=stores.sessions,
        catalogue=OneModel(chat=calls, info=INFO),
        capabilities=capabilities(tools, max_tokens=10**9),
        options=RunOptions(),
        clock=lambda: datetime.now(UTC),
        new_id=lambda kind: f"{kind}_{name}_{next(numbers)}",
        defaults=Options(max_turns=10**6),
    )
    return Worker(name=name, services=services, max_concurrent_runs=5)


async def at_work(one: Worker, until: asyncio.Event) -> None:
    """Ends as a worker does that is told to: its run is given back after the present step."""
    working = asyncio.create_task(one.work())
    await until.wait()
    working.cancel()
    await asyncio.wait({working})


async def measure(turns: Turns) -> list[float]:
    """The shares of the requests that were the unchanged beginning of the ones before."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        mongod, redis = (stack.enter_context(run(folder / run.__name__)) for run in (run_mongod, run_redis))
        url = await stack.enter_async_context(served(folder / "shares"))
        stores = await stack.enter_async_context(mongo_stores(mongod.uri, "app"))
        live = await stack.enter_async_context(redis_channels(redis.uri))
        session = await stores.session(title="named")
        await stores.ledger.accept(session, ANNA, MessageUser(message_id="m", text="go"))
        model = OpenAiChatModel(key="k", base_url=url)
        stack.push_async_callback(model.aclose)
        await at_work(worker("first", model, stores, live, turns), turns.half_way)
        await at_work(worker("second", model, stores, live, turns), turns.is_over)
        return [float(line) for line in (folder / "shares").read_text().split()]


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(serve(Path(sys.argv[2])))
        return
    arguments = [one for one in sys.argv[1:] if one != "--by-package"]
    turns = Turns(wanted=int(arguments[0]) if arguments else TURNS)
    samples = Samples(turns)
    if "--by-package" in sys.argv:
        samples.begin()
    print(machine())
    shares = uvloop.run(measure(turns))
    signal.setitimer(signal.ITIMER_PROF, 0)
    early, late = turns.ms(20, 40), turns.ms(turns.wanted - 20, turns.wanted)
    print(f"{turns.wanted} turns of {DELTAS} deltas and a result of {RESULT_CHARACTERS} characters, restarted half-way")
    print(f"processor time of ours a turn: {early:.2f} ms in turns 20 to 40, {late:.2f} ms in the last 20")
    print(f"memory: {turns.mib[0]:.0f} MiB at turn {EARLY}, {turns.mib[-1]:.0f} MiB at the end")
    print(f"unchanged beginning of a request: median {median(shares[1:]):.1%}, least {min(shares[1:]):.1%}")
    for package, looks in samples.looks.most_common(8):
        share = looks / samples.looks.total()
        print(f"  {package}: {share:.0%}, {share * turns.ms(20, turns.wanted):.2f} ms a turn (n={looks})")


if __name__ == "__main__":
    main()
