"""Somebody else's account on the machine the local stack runs on: it reaches loopback, and may read no file of ours."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import psutil
import pymongo
import pytest
import redis
from pymongo.errors import OperationFailure, PyMongoError

from support.servers import find_binary, free_port, run_server
from support.stack import Stack, run_stack, start_stack
from support.stream_load import mongo_uri_of
from support.tls import NO_TLS

Client = pymongo.MongoClient[dict[str, Any]]
OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics")}
"""The last answers this machine itself where no token is set for it."""
UNAUTHORIZED = 13
AUTHENTICATION_FAILED = 18


def ports_of(data_dir: Path) -> dict[str, int]:
    return json.loads((data_dir / "ports.json").read_text())


def stranger(port: int, **who: str) -> Client:
    return Client("127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=2000, **who)


@pytest.mark.parametrize(
    "command",
    [
        {"listDatabases": 1},
        pytest.param({"usersInfo": 1}, marks=pytest.mark.thorough),
        {"createUser": "mine", "pwd": "mine", "roles": ["root"]},
        pytest.param({"getParameter": "*"}, marks=pytest.mark.thorough),
        pytest.param({"getCmdLineOpts": 1}, marks=pytest.mark.thorough),
        {"shutdown": 1},
    ],
    ids=lambda command: next(iter(command)),
)
def test_the_database_answers_nobody_without_its_password(stack: Stack, command: dict[str, Any]) -> None:
    with stranger(ports_of(stack.data_dir)["mongod"]) as client:
        with pytest.raises(OperationFailure) as refused:
            client.admin.command(command)
    assert refused.value.code == UNAUTHORIZED


def test_accounts_are_neither_read_nor_made_over_loopback(stack: Stack) -> None:
    with stranger(ports_of(stack.data_dir)["mongod"]) as client:
        with pytest.raises(OperationFailure):
            client["agent"]["users"].find_one()
        with pytest.raises(OperationFailure):
            client["agent"]["users"].update_many({}, {"$set": {"is_admin": True}})


def test_a_guessed_password_of_the_database_does_not_hold(stack: Stack) -> None:
    with stranger(ports_of(stack.data_dir)["mongod"], username="stack", password="stack") as client:
        with pytest.raises(OperationFailure) as refused:
            client.admin.command("listDatabases")
    assert refused.value.code == AUTHENTICATION_FAILED


def test_redis_answers_nobody_without_its_password(stack: Stack) -> None:
    with redis.Redis(port=ports_of(stack.data_dir)["redis"]) as client:
        with pytest.raises(redis.exceptions.AuthenticationError):
            client.keys("*")


@pytest.mark.parametrize("token", ["", "Bearer", "Bearer guessed", "Basic Z3Vlc3NlZA=="])
def test_the_manager_answers_nobody_without_its_token(stack: Stack, token: str) -> None:
    manager = f"http://127.0.0.1:{ports_of(stack.data_dir)['manager']}"
    described = httpx.get(f"{manager}/openapi.json", trust_env=False, verify=NO_TLS).raise_for_status().json()
    routes = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    assert len(routes) > len(OPEN), "it has others"
    assert routes >= OPEN
    headers = {"Authorization": token} if token else {}
    for method, path in sorted(routes - OPEN):
        named = re.sub(r"\{\w+\}", "1", path)
        answer = httpx.request(method, manager + named, headers=headers, trust_env=False, verify=NO_TLS)
        assert answer.status_code == 401, (method, path)


def test_all_that_listens_on_loopback_is_accounted_for(stack: Stack) -> None:
    named = {*ports_of(stack.data_dir).values(), int(stack.base_url.rpartition(":")[2])}
    listening = {
        connection.laddr.port
        for process in stack.descendants()
        for connection in _connections(process)
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening
    assert listening <= named


def _connections(process: psutil.Process) -> list[Any]:
    try:
        return process.net_connections(kind="inet")
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []


def test_nobody_gets_a_foot_in_before_the_first_user_is_made_and_new_secrets_open_old_data(tmp_path: Path) -> None:
    tried: list[str] = []
    over = threading.Event()

    def attack() -> None:
        while not over.is_set():
            try:
                with stranger(ports_of(tmp_path)["mongod"]) as client:
                    client.admin.command("createUser", "mine", pwd="mine", roles=["root"])
                    tried.append("got in")
            except OperationFailure as error:
                tried.append(f"refused {error.code}")
            except (OSError, ValueError, KeyError, PyMongoError):
                continue

    attacker = threading.Thread(target=attack)
    attacker.start()
    try:
        start_stack(tmp_path).stop()
    finally:
        over.set()
        attacker.join()
    assert tried, "the database was never reached"
    assert set(tried) == {f"refused {UNAUTHORIZED}"}

    (tmp_path / "secrets.json").unlink()
    with run_stack(tmp_path) as stack, Client(mongo_uri_of(stack.data_dir)) as client:
        assert "agent" in client.list_database_names()


@contextmanager
def open_mongod(data: Path, log: Path) -> Iterator[Client]:
    """A set of one that asks nobody who they are, as it was once started."""
    port = free_port()
    data.mkdir(parents=True)
    options = ["--dbpath", str(data), "--port", str(port), "--bind_ip", "127.0.0.1", "--nounixsocket"]
    with run_server([find_binary("mongod"), *options, "--replSet", "rs0", "--quiet"], log):
        with Client("127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=20_000) as client:
            members = [{"_id": 0, "host": f"127.0.0.1:{port}"}]
            client.admin.command("replSetInitiate", {"_id": "rs0", "members": members})
            while not client.admin.command("hello")["isWritablePrimary"]:
                pass
            yield client


@pytest.mark.thorough
def test_data_from_before_there_was_a_password_is_kept_and_closed(tmp_path: Path) -> None:
    with open_mongod(tmp_path / "mongo", tmp_path / "before.log") as before:
        before["kept"]["things"].insert_one({"_id": "mine"})
    secrets = {name: token_hex(32) for name in ("jwt_secret_key", "manager_token", "redis_password")}
    (tmp_path / "secrets.json").write_text(json.dumps(secrets))

    with run_stack(tmp_path) as stack:
        with Client(mongo_uri_of(stack.data_dir)) as client:
            assert client["kept"]["things"].find_one() == {"_id": "mine"}
        with stranger(ports_of(tmp_path)["mongod"]) as client, pytest.raises(OperationFailure):
            client["kept"]["things"].find_one()
    assert json.loads((tmp_path / "secrets.json").read_text()).items() > secrets.items()
