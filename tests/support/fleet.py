"""Several gateways, workers and managers over one mongod and one redis: each a process that tests may hurt.

async with run_fleet(folder, Shape(gateways=2, workers=2, managers=2), settings) as fleet:
    fleet["worker-1"].kill()
    fleet["worker-1"].start()
    await fleet["worker-1"].up()
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import secrets
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pymongo
import redis
from pymongo.errors import PyMongoError
from redis.exceptions import RedisError

from support.balancer import Balancer
from support.fleet_member import Member
from support.forge import Forge
from support.servers import find_binary, free_port
from support.sources import python_path
from support.tls import NO_TLS

ROOT = Path(__file__).resolve().parents[2]
_KEPT = ("PATH", "HOME", "LANG", "DOCKER_HOST", "SSL_CERT_FILE", "SSL_CERT_DIR")
_MANAGER = "sandbox_manager"
_FAKE = "fake"
_FAKE_MANAGER = "support.fake_manager"
_GATEWAY = "backend_api.main"
_PAGE = ROOT / "frontend" / "dist"
_WORKER = "backend_api.main.worker"
_FORGED = ("sandbox_manager.bootstrap.serve", "backend_api.main.wiring", _WORKER, "openai.resources.chat")
SOURCES = python_path("backend-api", "sandbox-manager")
"""Where the services' code is, as `PYTHONPATH` wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How many of each. Without workers the gateways work themselves."""

    gateways: int = 1
    workers: int = 0
    managers: int = 1


@dataclass(slots=True, kw_only=True)
class Fleet:
    """All members by name: mongod, redis, gateway-1, worker-1, manager-1 and so on."""

    folder: Path
    runtime: str
    stack: str
    mongo_uri: str
    redis_uri: str
    members: dict[str, Member] = field(default_factory=dict[str, Member])

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    def kind(self, kind: str) -> list[Member]:
        """All of `gateway`, `worker` or `manager`."""
        return [member for name, member in self.members.items() if name.startswith(f"{kind}-")]

    @property
    def services(self) -> list[Member]:
        """All but the databases."""
        return [*self.kind("gateway"), *self.kind("worker"), *self.kind("manager")]

    @property
    def urls(self) -> list[str]:
        """The gateways' addresses."""
        return [member.url for member in self.kind("gateway")]

    @property
    def sandboxes(self) -> Path:
        """Folder of the process runtime."""
        return self.folder / "sandboxes"

    @property
    def temporary(self) -> Path:
        """Where every member makes its temporary files."""
        return self.folder / "tmp"

    async def stop(self) -> dict[str, int]:
        """End all in the order a deployment would: who serves people first, the databases last. Exit statuses."""
        statuses: dict[str, int] = {}
        for group in (self.kind("gateway"), self.kind("worker"), self.kind("manager")):
            running = [member for member in group if member.is_alive]
            results = await asyncio.gather(*(member.stop() for member in running))
            statuses |= {member.name: status for member, status in zip(running, results, strict=True)}
        return statuses


@asynccontextmanager
async def run_fleet(
    folder: Path,
    shape: Shape,
    settings: Mapping[str, str],
    *,
    runtime: str = "process",
    manager: str = _MANAGER,
    only: Mapping[str, Mapping[str, str]] | None = None,
    mongo_folder: Path | None = None,
    mongod_options: Sequence[str] = (),
    forged: bool = False,
    fill: Callable[[Fleet], None] = lambda _: None,
) -> AsyncGenerator[Fleet]:
    """Up when it is handed out; ended with the block, by force where asking does not help.

    `manager` is the module that managers run. `settings` go to all services, `only["worker-1"]` to that one;
    `mongo_folder` is where mongod keeps its data, and `fill` puts there what services find when they start. `forged`
    services start by forking, for tests that restart them all the time.
    """
    chance = random.Random(0)
    manager_ports = [free_port() for _ in range(shape.managers)]
    async with AsyncExitStack() as stack:
        managers = await stack.enter_async_context(Balancer(manager_ports, chance))
        fleet = _plan(folder, shape, settings, runtime, manager, only or {}, mongo_folder, managers.url, manager_ports)
        fleet["mongod"].command += tuple(mongod_options)
        if forged:
            forge = stack.enter_context(Forge(_FORGED, fleet.services[0].environ))
            for member in fleet.services:
                member.forge = forge
        try:
            for stage in (("mongod", "redis"), ("manager",), ("gateway", "worker")):
                starting = [member for name, member in fleet.members.items() if name.split("-")[0] in stage]
                for member in starting:
                    member.start()
                await asyncio.gather(*(member.up() for member in starting))
                if "mongod" in stage:
                    fill(fleet)
            yield fleet
        finally:
            with contextlib.suppress(AssertionError):
                await fleet.stop()
            for name in ("redis", "mongod"):
                with contextlib.suppress(AssertionError):
                    await fleet[name].stop()


def _plan(
    folder: Path,
    shape: Shape,
    settings: Mapping[str, str],
    runtime: str,
    manager_module: str,
    only: Mapping[str, Mapping[str, str]],
    mongo_folder: Path | None,
    manager_url: str,
    manager_ports: list[int],
) -> Fleet:
    mongo_port, redis_port = free_port(), free_port()
    fleet = Fleet(
        folder=folder,
        runtime=runtime,
        stack=f"fleet-{secrets.token_hex(4)}",
        mongo_uri=f"mongodb://127.0.0.1:{mongo_port}/?directConnection=true",
        redis_uri=f"redis://127.0.0.1:{redis_port}/0",
    )
    data = mongo_folder or folder / "mongo"
    for made in (data, folder / "redis", fleet.temporary):
        made.mkdir(parents=True, exist_ok=True)
    plain = {name: os.environ[name] for name in _KEPT if name in os.environ} | {"TMPDIR": str(fleet.temporary)}
    common = plain | {
        "PYTHONPATH": SOURCES,
        "MONGO_URI": fleet.mongo_uri,
        "SANDBOX_MANAGER_TOKEN": secrets.token_hex(24),
    }
    backend = common | {
        "REDIS_URL": fleet.redis_uri,
        "AUTH_MODE": "password",
        "JWT_SECRET_KEY": secrets.token_hex(32),
        "HOST": "127.0.0.1",
        "DATA_DIR": str(folder / "data"),
        "SANDBOX_MANAGER_URL": manager_url,
        "USE_BACKGROUND_JOBS": "true" if shape.workers else "false",
        **settings,
    }
    manager = common | {
        "MANAGER_HOST": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join((SOURCES, str(ROOT / "tests"))),
        "SANDBOX_RUNTIME": runtime if runtime != _FAKE else "process",
        "COMPOSE_PROJECT_NAME": fleet.stack,
        "SANDBOX_REMOVE_ON_SHUTDOWN": "true",
        "SANDBOX_POOL_SIZE": "0",
        "DATA_DIR": str(folder),
        "SANDBOX_SECCOMP_PROFILE": str(ROOT / "sandbox-image" / "seccomp.json"),
        **settings,
    }

    def add(
        name: str, port: int, command: tuple[str, ...], environ: Mapping[str, str], answers: Callable[[int], bool]
    ) -> None:
        fleet.members[name] = Member(
            name=name,
            port=port,
            command=command,
            environ={**environ, **only.get(name, {})},
            log=folder / f"{name}.log",
            answers=answers,
        )

    mongod = (find_binary("mongod"), "--dbpath", str(data), "--port", str(mongo_port), "--bind_ip", "127.0.0.1")
    mongod += ("--replSet", "rs0", "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "128", "--nounixsocket", "--quiet")
    mongod += ("--setParameter", "diagnosticDataCollectionEnabled=false")
    add("mongod", mongo_port, mongod, plain, _is_primary)
    server = (find_binary("redis-server"), "--port", str(redis_port), "--bind", "127.0.0.1")
    server += ("--save", "", "--appendonly", "no", "--dir", str(folder / "redis"))
    add("redis", redis_port, server, plain, _answers_redis)
    manager_module = _FAKE_MANAGER if runtime == _FAKE else manager_module
    for number, port in enumerate(manager_ports, 1):
        environ = {**manager, "MANAGER_PORT": str(port)}
        add(f"manager-{number}", port, (sys.executable, "-m", manager_module), environ, _is_ready)
    for number in range(1, shape.gateways + 1):
        port = free_port()
        environ = {**backend, "PORT": str(port)}
        page = ("--page", str(_PAGE)) if _PAGE.is_dir() else ()
        add(f"gateway-{number}", port, (sys.executable, "-m", _GATEWAY, *page), environ, _is_ready)
    for number in range(1, shape.workers + 1):
        port = free_port()
        command = (sys.executable, "-m", _WORKER, "--port", str(port))
        add(f"worker-{number}", port, command, backend, _is_ready)
    return fleet


def _is_ready(port: int) -> bool:
    try:
        return (
            httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5, trust_env=False, verify=NO_TLS).status_code == 200
        )
    except httpx.HTTPError:
        return False


def _answers_redis(port: int) -> bool:
    try:
        with redis.Redis(port=port, socket_timeout=2) as client:
            return bool(client.ping())  # pyright: ignore[reportUnknownMemberType] - the driver leaves it untyped
    except RedisError:
        return False


def _is_primary(port: int) -> bool:
    uri = f"mongodb://127.0.0.1:{port}/?directConnection=true"
    try:
        with pymongo.MongoClient[dict[str, object]](uri, serverSelectionTimeoutMS=500) as client:
            hello = client.admin.command("hello")
            if not hello.get("setName"):
                members = [{"_id": 0, "host": f"127.0.0.1:{port}"}]
                client.admin.command("replSetInitiate", {"_id": "rs0", "members": members})
            return bool(hello.get("isWritablePrimary"))
    except PyMongoError:
        return False
