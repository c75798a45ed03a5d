"""What a message costs: processor time of gateways and workers, and commands of MongoDB and Redis, as they count them.

.venv/bin/python bench/message_cost.py                      1 gateway with the worker inside, then 2 and 2 apart
BENCH_ROOT=../before .venv/bin/python bench/message_cost.py  the same of another checkout

The servers' counts are less what they do with nobody talking. Text costs a command of Redis for each piece shown; all
that is counted here has a few.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import httpx
import pymongo
import redis
import uvloop

from load import EVERY_MS, NAMES, SHAPES, Talker, Usage, talk, talkers
from setting import NO_LIMITS, ROOT, machine, paced_model
from support.fleet import Fleet, run_fleet

IDLE_S = 5.0
COUNTED = 6
"""Messages of each session while Redis says what it is asked, which costs it too much to be timed."""
_LOOKING = {"hello", "serverStatus", "ping", "isMaster"}
_END = "counted"
SETTINGS = {
    "LLM_PROVIDER": "openai",
    "OPENAI_API_KEY": "sk-scripted",
    "MODEL": "scripted",
    "MAX_TOKEN_BUDGET": "1000000000",
    **NO_LIMITS,
    "MAX_CONCURRENT_RUNS": "200",
}


def asked_of_mongo(fleet: Fleet) -> Counter[str]:
    """Commands so far, by name."""
    with pymongo.MongoClient[dict[str, object]](fleet.mongo_uri) as client:
        commands = client.admin.command("serverStatus")["metrics"]["commands"]
    totals = {name: int(one["total"]) for name, one in commands.items() if isinstance(one, dict)}
    return Counter({name: many for name, many in totals.items() if name not in _LOOKING})


def listen_to_redis(uri: str, listening: Event) -> Counter[str]:
    """Commands until one that says it is over; what a script calls is none."""
    asked = Counter[str]()
    with redis.Redis.from_url(uri) as client, client.monitor() as monitor:
        listening.set()
        for command in monitor.listen():
            if command["command"] == f"ECHO {_END}":
                return asked
            if command["client_type"] != "lua":
                asked[command["command"].split(" ")[0].lower()] += 1
    return asked


async def asked_of_redis(fleet: Fleet, people: Sequence[Talker]) -> dict[str, float]:
    """Commands a message, by name."""
    listening = Event()
    heard = asyncio.ensure_future(asyncio.to_thread(listen_to_redis, fleet.redis_uri, listening))
    await asyncio.to_thread(listening.wait)
    await talk(people, COUNTED, 0.5)
    with redis.Redis.from_url(fleet.redis_uri) as client:
        client.echo(_END)
    messages = COUNTED * len(people)
    return {name: round(many / messages, 2) for name, many in (await heard).most_common() if many > messages / 20}


async def measure(fleet: Fleet, options: argparse.Namespace) -> dict[str, float]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=200, keepalive_expiry=2)
    async with httpx.AsyncClient(timeout=60, trust_env=False, limits=limits) as http:
        account = {"username": f"cost{random.getrandbits(32)}", "password": "correct horse battery"}
        token = (await http.post(f"{fleet.urls[0]}/api/auth/register", json=account)).json()["access_token"]
        people = await talkers(fleet, http, token, options.sessions)
        await talk(people, 10, 0.5)
        usage = Usage(fleet)
        idle = asked_of_mongo(fleet)
        await asyncio.sleep(IDLE_S)
        idle, idle_cpu = asked_of_mongo(fleet) - idle, usage.cpu_s()
        before, began = asked_of_mongo(fleet), asyncio.get_running_loop().time()
        await talk(people, options.messages // options.sessions, 0.5)
        took = asyncio.get_running_loop().time() - began
        cpu, asked = usage.cpu_s(), asked_of_mongo(fleet) - before
        cache = await asked_of_redis(fleet, people)
    messages = options.messages // options.sessions * options.sessions

    mongo = {
        name: round(value, 2)
        for name, many in asked.most_common()
        if (value := (many - idle[name] * took / IDLE_S) / messages) >= 0.05
    }
    ours = sum(s - idle_cpu[name] * took / IDLE_S for name, s in cpu.items() if name.startswith(("gateway", "worker")))
    servers = sum(cpu[name] - idle_cpu[name] * took / IDLE_S for name in ("mongod", "redis"))
    print(f"  mongo {mongo}\n  redis {cache}", file=sys.stderr)
    own = [mib for name, mib in usage.mib().items() if name.startswith(("gateway", "worker"))]
    return {
        "ours_ms": round(1000 * ours / messages, 2),
        "servers_ms": round(1000 * servers / messages, 2),
        "mongo": round(sum(mongo.values()), 1),
        "redis": round(sum(cache.values()), 1),
        "mib": round(sum(own) / len(own)),
    }


async def run_load(options: argparse.Namespace) -> None:
    print(machine(), ROOT)
    for size in options.fleet:
        with tempfile.TemporaryDirectory() as folder, paced_model(options.deltas, EVERY_MS) as url:
            async with run_fleet(Path(folder), SHAPES[size], {**SETTINGS, "OPENAI_BASE_URL": url}) as fleet:
                if options.pids:
                    print({member.name: member.pid for member in fleet.services}, flush=True)
                found = await measure(fleet, options)
                print(f"{NAMES[size]}: {json.dumps(found)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--messages", type=int, default=600)
    parser.add_argument("--deltas", type=int, default=3)
    parser.add_argument("--fleet", action="append", choices=SHAPES, default=None)
    parser.add_argument("--pids", action="store_true", help="say the services' process ids, for a profiler")
    options = parser.parse_args()
    options.fleet = options.fleet or ["1", "2+2"]
    uvloop.run(run_load(options))


if __name__ == "__main__":
    main()
