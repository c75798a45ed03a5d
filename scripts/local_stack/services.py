"""The children: what each is started with and how it shows that it is up."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local_stack import mongo_user
from local_stack.binaries import find_server
from local_stack.child import ChildSpec
from local_stack.data_folder import StackSecrets
from local_stack.mongo_user import MongoUser
from local_stack.ports import inner_ports
from local_stack.probes import answers_http, answers_redis, body_of
from local_stack.replica_set import NAME, ReplicaSet
from local_stack.settings import StackSettings

_LOOPBACK = "127.0.0.1"
_NOT_FOR_THE_MANAGER = ("_API_KEY", "JWT_SECRET_KEY", "SECRETS_KEY", "REDIS_URL", "REDIS_HOST", "REDIS_PORT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What the services must know of each other."""

    settings: StackSettings
    secrets: StackSecrets
    folder: Path
    port: int
    ports: Mapping[str, int]

    @property
    def mongo_uri(self) -> str:
        return self.settings.mongo_uri or mongo_uri(self.ports["mongod"], self.secrets.mongo_password)

    @property
    def mongo_user(self) -> MongoUser | None:
        """Whom our own mongod knows; None where another's is used. Raises `StackError` when there is no mongod."""
        if self.settings.mongo_uri:
            return None
        return MongoUser(
            mongod=find_server("mongod"),
            data=self.folder / "mongo",
            key_file=self.folder / "mongo.key",
            password=self.secrets.mongo_password,
            environ=_plain_environ(self),
            logs=self.folder / "logs",
        )

    @property
    def redis_url(self) -> str:
        own = f"redis://:{self.secrets.redis_password}@{_LOOPBACK}:{self.ports['redis']}/0"
        return self.settings.redis_url or own

    @property
    def name(self) -> str:
        """Tells this stack's sandboxes from those of every other one on the machine, also after a restart."""
        return "local-" + hashlib.sha256(str(self.folder).encode()).hexdigest()[:12]

    @property
    def manager_url(self) -> str:
        return f"http://{_LOOPBACK}:{self.ports['manager']}"

    @property
    def page_url(self) -> str:
        if self.settings.reload:
            return f"http://{_LOOPBACK}:{self.ports['vite']}"
        host = f"[{self.settings.host}]" if ":" in self.settings.host else self.settings.host
        return f"http://{'127.0.0.1' if host in ('0.0.0.0', '[::]') else host}:{self.port}"


def mongo_uri(port: int, password: str) -> str:
    """Of our own mongod."""
    return f"mongodb://{mongo_user.NAME}:{password}@{_LOOPBACK}:{port}/?replicaSet={NAME}&authSource=admin"


def plan_stack(settings: StackSettings, secrets: StackSecrets, folder: Path, port: int) -> Stack:
    ports = inner_ports(folder / "ports.json", ("mongod", "redis", "manager", "vite", "worker"), port)
    return Stack(settings=settings, secrets=secrets, folder=folder, port=port, ports=ports)


def child_specs(stack: Stack) -> list[list[ChildSpec]]:
    """Stages in the order of their start. Raises `StackError` when a database server is nowhere to be found."""
    stores: list[ChildSpec] = []
    if not stack.settings.mongo_uri:
        stores.append(_mongod(stack))
    if not stack.settings.redis_url:
        stores.append(_redis(stack))
    # The gateway stops before the manager, yet need not wait for it to start.
    services = [_manager(stack), *([_worker(stack)] if stack.settings.has_worker else []), _gateway(stack)]
    return [stores, services, [_vite(stack)] if stack.settings.reload else []]


def _mongod(stack: Stack) -> ChildSpec:
    port = stack.ports["mongod"]
    command = (
        str(find_server("mongod")),
        *("--replSet", NAME, "--bind_ip", _LOOPBACK, "--port", str(port), "--nounixsocket"),
        *("--dbpath", str(stack.folder / "mongo"), "--wiredTigerCacheSizeGB", "0.5", "--oplogSize", "256"),
        *("--setParameter", "diagnosticDataCollectionEnabled=false"),
        *("--keyFile", str(stack.folder / "mongo.key"), "--setParameter", "enableLocalhostAuthBypass=false"),
        # Also after a restart of its own (docs/decisions/0007).
        *("--setParameter", "transactionLifetimeLimitSeconds=5"),
    )
    return ChildSpec(
        name="mongod",
        command=command,
        environ=_plain_environ(stack),
        working_dir=stack.folder / "mongo",
        is_ready=ReplicaSet(f"{_LOOPBACK}:{port}", mongo_user.NAME, stack.secrets.mongo_password).is_primary,
        stop_within=30,
    )


def _redis(stack: Stack) -> ChildSpec:
    port, password = stack.ports["redis"], stack.secrets.redis_password
    # By standard input, since a command line can be read by every user of the machine.
    folder = quoted_for_redis(stack.folder / "redis")
    config = f'bind {_LOOPBACK}\nport {port}\nsave ""\nappendonly no\ndir {folder}\nrequirepass {password}\n'
    return ChildSpec(
        name="redis",
        command=(str(find_server("redis-server")), "-"),
        environ=_plain_environ(stack),
        working_dir=stack.folder / "redis",
        is_ready=lambda: answers_redis(_LOOPBACK, port, password),
        stdin=config.encode(),
    )


def quoted_for_redis(path: Path) -> str:
    """As one word of its configuration, whatever bytes the path has."""
    plain = (byte in range(0x20, 0x7F) and byte not in b'"\\' for byte in os.fsencode(path))
    pairs = zip(os.fsencode(path), plain, strict=True)
    return '"' + "".join(chr(byte) if is_plain else f"\\x{byte:02x}" for byte, is_plain in pairs) + '"'


def _manager(stack: Stack) -> ChildSpec:
    port = stack.ports["manager"]
    given = {k: v for k, v in stack.settings.environ.items() if not k.endswith(_NOT_FOR_THE_MANAGER)}
    root = stack.settings.root
    environ = {
        "SANDBOX_RUNTIME": "auto",
        **given,
        "SANDBOX_REMOVE_ON_SHUTDOWN": "true",
        "SANDBOX_SECCOMP_PROFILE": str(root / given.get("SANDBOX_SECCOMP_PROFILE", "sandbox-image/seccomp.json")),
        "COMPOSE_PROJECT_NAME": stack.name,
        "MANAGER_HOST": _LOOPBACK,
        "MANAGER_PORT": str(port),
        "MONGO_URI": stack.mongo_uri,
        "SANDBOX_MANAGER_TOKEN": stack.secrets.manager_token,
        "DATA_DIR": str(stack.folder),
    }
    return ChildSpec(
        name="manager",
        command=(sys.executable, "-m", "sandbox_manager"),
        environ=environ,
        working_dir=stack.folder,
        is_ready=lambda: answers_http(_LOOPBACK, port, "/readyz"),
        why_not=lambda: body_of(_LOOPBACK, port, "/readyz"),
        ready_within=30,
        stop_within=40,
    )


def _backend_environ(stack: Stack) -> dict[str, str]:
    settings = stack.settings
    return {
        "JWT_SECRET_KEY": stack.secrets.jwt_secret_key,
        "SECRETS_KEY": stack.secrets.secrets_key,
        **settings.environ,
        "AUTH_MODE": settings.auth_mode,
        "HOST": settings.host,
        "PORT": str(stack.port),
        # Those of compose do not count here.
        "BIND_ADDRESS": settings.host.partition(",")[0].strip(),
        "FRONTEND_PORT": str(stack.port),
        "MONGO_URI": stack.mongo_uri,
        "REDIS_URL": stack.redis_url,
        "SANDBOX_MANAGER_URL": stack.manager_url,
        "SANDBOX_MANAGER_TOKEN": stack.secrets.manager_token,
        "DATA_DIR": str(stack.folder),
    }


def _worker(stack: Stack) -> ChildSpec:
    port = stack.ports["worker"]
    return ChildSpec(
        name="worker",
        command=(sys.executable, "-m", "backend_api.main.worker", "--port", str(port)),
        environ=_backend_environ(stack) | {"HOST": _LOOPBACK},
        working_dir=stack.folder,
        is_ready=lambda: answers_http(_LOOPBACK, port, "/readyz"),
        why_not=lambda: body_of(_LOOPBACK, port, "/readyz"),
        stop_within=15,
    )


def _gateway(stack: Stack) -> ChildSpec:
    settings = stack.settings
    probe_host = _LOOPBACK if settings.host == "0.0.0.0" else settings.host

    async def serves_the_page() -> bool:
        ready = await answers_http(probe_host, stack.port, "/readyz")
        return ready and (settings.reload or await answers_http(probe_host, stack.port, "/"))

    return ChildSpec(
        name="gateway",
        command=(sys.executable, "-m", "backend_api.main", "--page", str(settings.root / "frontend" / "dist")),
        environ=_backend_environ(stack),
        working_dir=stack.folder,
        is_ready=serves_the_page,
        why_not=lambda: body_of(probe_host, stack.port, "/readyz"),
        stop_within=15,
    )


def _vite(stack: Stack) -> ChildSpec:
    port = stack.ports["vite"]
    frontend = stack.settings.root / "frontend"
    return ChildSpec(
        name="vite",
        command=("node", str(frontend / "node_modules" / "vite" / "bin" / "vite.js"), "--strictPort"),
        environ=_plain_environ(stack) | {"PORT": str(port), "BACKEND_URL": f"http://{_LOOPBACK}:{stack.port}"},
        working_dir=frontend,
        is_ready=lambda: answers_http(_LOOPBACK, port, "/"),
    )


def _plain_environ(stack: Stack) -> dict[str, str]:
    return {"PATH": stack.settings.environ.get("PATH", ""), "HOME": str(stack.folder), "LC_ALL": "C.UTF-8"}
