"""The Docker runtime."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Generator

from sandbox_manager.application.watched_start import phase_reached
from sandbox_manager.domain.errors import DomainError, EngineUnavailableError, StartFailedError, WorkspaceExistsError
from sandbox_manager.domain.ports import Found, Report, SandboxSpec, Usage
from sandbox_manager.domain.sandbox import Identity, Started
from sandbox_manager.infrastructure.runtimes.docker import naming
from sandbox_manager.infrastructure.runtimes.docker.archives import DockerArchives
from sandbox_manager.infrastructure.runtimes.docker.container import ENDPOINT_PORT, container_config, why_ended
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine, Json, OverlapError, dig
from sandbox_manager.infrastructure.runtimes.docker.guard import Guard
from sandbox_manager.infrastructure.runtimes.docker.options import DockerOptions
from sandbox_manager.infrastructure.runtimes.docker.removal import remove_all
from sandbox_manager.infrastructure.runtimes.docker.subnets import free_subnets
from sandbox_manager.infrastructure.runtimes.sandbox_profile import (
    KEPT_LINE,
    READY_LINE,
    desktop_of,
    fingerprint,
    keep_alive_line,
    report_of,
)
from sandbox_manager.infrastructure.runtimes.threads import Pools, pools

_log = logging.getLogger(__name__)

_SUBNET_TRIES = 20
_OOM_EXIT = 137
_ANSWER_S = 4.0


class DockerRuntime:
    """One container, one private network and one workspace volume a sandbox; found again by their labels."""

    name = "docker"

    def __init__(self, options: DockerOptions, engine: Engine, pools: Pools) -> None:
        self._options = options
        self._engine = engine
        self._threads = pools.calls
        self._waiting = pools.waiting
        self._guard = Guard(engine, options)
        self._place: str | None = None
        self.archives = DockerArchives(options, engine, pools)

    async def place(self) -> str:
        if self._place is None:
            self._place = f"docker:{await self._threads.run_call(self._engine.identity)}"
        return self._place

    async def check(self) -> None:
        await self._threads.run_call(self._check)

    def _check(self) -> None:
        self._engine.ping()
        if not self._engine.has_image(self._options.image):
            raise EngineUnavailableError(
                f"SANDBOX_IMAGE: the image {self._options.image} is missing; build it with ./build.sh."
            )
        self._seccomp()

    async def start_sandbox(self, spec: SandboxSpec) -> Started:
        identity = spec.identity
        name = naming.container_name(self._options.stack, identity)
        subnet = await self._threads.run_call(lambda: self._make_surroundings(identity))
        phase_reached("network")
        config = container_config(self._options, spec, self._seccomp())
        await self._threads.run_call(lambda: self._engine.create_container(name, config))
        phase_reached("created")
        with self._guard.starting(identity):
            await self._threads.run_call(lambda: self._engine.start_container(name))
            phase_reached("started")
            await self._threads.run_call(lambda: self._guard.close(identity, subnet))
        await self._threads.run_call(lambda: self._let_clients_in(identity, self._clients()))
        phase_reached("routed")
        line = await self._ready_line(name)
        phase_reached("ready")
        address = await self._threads.run_call(lambda: self._address(name, identity))
        return Started(endpoint=f"http://{address}:{ENDPOINT_PORT}", has_desktop=desktop_of(line), has_network=True)

    def _seccomp(self) -> str:
        try:
            return json.dumps(json.loads(self._options.seccomp_profile.read_text()))
        except (OSError, ValueError) as error:
            raise EngineUnavailableError(
                f"SANDBOX_SECCOMP_PROFILE: {self._options.seccomp_profile} can't be read."
            ) from error

    def _make_surroundings(self, identity: Identity) -> str:
        stack = self._options.stack
        self._engine.create_volume(naming.volume_name(stack, identity), naming.workspace_labels(identity, stack))
        name, labels = naming.network_name(stack, identity), naming.labels_of(identity, stack)
        subnets = free_subnets(self._options.subnet_pool, self._engine.networks())
        for _, subnet in zip(range(_SUBNET_TRIES), subnets, strict=False):
            try:
                self._engine.create_network(name, subnet, labels)
            except OverlapError:
                continue
            return subnet
        raise EngineUnavailableError("SANDBOX_SUBNET_POOL: no subnet is free for another sandbox.")

    def _clients(self) -> list[str]:
        """Gateways and workers of this stack: they get a leg in every sandbox's network."""
        found = self._engine.containers(f"{naming.ENDPOINT_CLIENT}={self._options.stack}")
        return [str(one["Id"]) for one in found if one.get("State") == "running"]

    def _let_clients_in(self, identity: Identity, clients: list[str]) -> None:
        network = naming.network_name(self._options.stack, identity)
        for client in clients:
            self._engine.connect(client, network)

    async def _ready_line(self, name: str) -> str:
        output = await self._threads.run_call(lambda: self._engine.follow_output(name))
        reading = asyncio.get_running_loop().run_in_executor(None, output.first_line, READY_LINE)
        try:
            line = await asyncio.shield(reading)
        finally:
            output.close()  # wakes the thread that still reads
            await asyncio.wait({reading})
            output.release()
        if line is None:
            raise StartFailedError(await self._threads.run_call(lambda: why_ended(self._engine, name)), retryable=True)
        return line

    def _address(self, name: str, identity: Identity) -> str:
        network = naming.network_name(self._options.stack, identity)
        address = dig(self._engine.container(name), "NetworkSettings", "Networks", network, "IPAddress")
        if not address:
            raise StartFailedError("The sandbox's container has no address; it may have just ended.", retryable=True)
        return str(address)

    async def keep_alive(self, identity: Identity, endpoint: str, token: str) -> Report:
        name = naming.container_name(self._options.stack, identity)
        line = await self._waiting.run_call(lambda: self._ask(name, keep_alive_line(token)))
        return report_of(line)

    def _ask(self, name: str, question: str) -> str:
        with _refusals():
            answer = self._engine.ask(name, question)
        with contextlib.closing(answer):
            return answer.line_with(KEPT_LINE, _ANSWER_S)

    async def usage(self, identity: Identity) -> Usage | None:
        name = naming.container_name(self._options.stack, identity)
        with _refusals():
            stats = await self._threads.run_call(
                lambda: self._engine.usage(name) if self._engine.container(name) else None
            )
        limit = dig(stats, "memory_stats", "limit")
        if limit is None:
            return None
        return Usage(
            cpu_s=dig(stats, "cpu_stats", "cpu_usage", "total_usage") / 1e9,
            memory_bytes=dig(stats, "memory_stats", "usage"),
            memory_limit_bytes=limit,
            pids=dig(stats, "pids_stats", "current"),
        )

    async def endings(self) -> AsyncGenerator[str]:
        endings = await self._threads.run_call(lambda: self._engine.endings(f"{naming.STACK}={self._options.stack}"))
        loop = asyncio.get_running_loop()
        reading = loop.run_in_executor(None, endings.next_labels)
        try:
            while (labels := await asyncio.shield(reading)) is not None:
                identity = naming.identity_of(labels)
                reading = loop.run_in_executor(None, endings.next_labels)
                if identity is not None:
                    yield identity.sandbox_id
        finally:
            endings.close()  # wakes the thread that still reads
            await asyncio.wait({reading})
            endings.release()

    async def found(self) -> list[Found]:
        return await self._threads.run_call(self._find_all)

    def _find_all(self) -> list[Found]:
        stack = self._options.stack
        found: dict[str, Found] = {}
        running: dict[str, tuple[Identity, Json]] = {}
        networks = self._engine.networks()
        for network in networks:
            labels = network.get("Labels")
            identity = naming.identity_of(labels)
            if identity is not None and dig(labels, naming.STACK) == stack:
                found[identity.sandbox_id] = Found(identity=identity, running=False, reason="Its container is gone.")
        for container in self._engine.containers(f"{naming.STACK}={stack}"):
            identity = naming.identity_of(container.get("Labels"))
            if identity is not None:
                one = found[identity.sandbox_id] = _to_found(identity, container)
                running |= {identity.sandbox_id: (identity, container)} if one.running else {}
        self._guard.renew(running, networks)
        self._keep_clients_in([one.identity for one in found.values() if one.running])
        return list(found.values())

    def _keep_clients_in(self, identities: list[Identity]) -> None:
        # A gateway that was recreated has lost its legs in the sandboxes' networks.
        clients = self._clients() if identities else []
        for identity in identities if clients else []:
            try:
                self._let_clients_in(identity, clients)
            except DomainError as error:
                fields = {"sandbox_id": identity.sandbox_id, "reason": error.detail}
                _log.warning("endpoint client not attached", extra=fields)

    async def pause(self, identity: Identity) -> None:
        name = naming.container_name(self._options.stack, identity)
        with _refusals():
            await self._threads.run_call(lambda: self._engine.pause(name))

    async def resume(self, identity: Identity) -> None:
        name = naming.container_name(self._options.stack, identity)
        with _refusals():
            await self._threads.run_call(lambda: self._engine.unpause(name))

    async def assign_workspace(self, identity: Identity) -> None:
        stack, engine, run = self._options.stack, self._engine, self._threads.run_call
        pooled, name = naming.pool_volume_name(stack, identity), naming.volume_name(stack, identity)
        with _refusals():
            is_taken, folder = await asyncio.gather(
                run(lambda: engine.has_volume(name)), run(lambda: engine.folder_of(pooled))
            )
            if is_taken:
                raise WorkspaceExistsError
            if folder is None:
                raise EngineUnavailableError("The workspace the sandbox was made with is gone.")
            labels = naming.workspace_labels(identity, stack)
            await run(lambda: engine.name_volume(name, labels, same_as=pooled, folder=folder))

    async def image_trouble(self, image: str) -> str | None:
        if await self._threads.run_call(lambda: self._engine.has_image(image)):
            return None
        return f"The image {image} is missing on the Docker engine; build it there, or run docker pull {image}."

    async def fingerprint(self) -> str:
        image = await self._threads.run_call(lambda: self._engine.image_id(self._options.image))
        return fingerprint(image, self._options, self._seccomp())

    async def remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        await remove_all(self._engine, self._waiting, self._options.stack, identity, keep_workspace=keep_workspace)


def _to_found(identity: Identity, container: Json) -> Found:
    running = container.get("State") in ("running", "paused")
    status = str(container.get("Status") or container.get("State"))
    hint = "; it may have used up its memory" if f"({_OOM_EXIT})" in status else ""
    return Found(
        identity=identity,
        running=running,
        paused=container.get("State") == "paused",
        reason=None if running else f"Its container: {status}{hint}.",
    )


@contextlib.contextmanager
def _refusals() -> Generator[None]:
    """Turn the engine's refusals to work on a running or ended sandbox into `EngineUnavailableError`."""
    try:
        yield
    except StartFailedError as error:
        raise EngineUnavailableError(error.detail) from error


@contextlib.asynccontextmanager
async def docker_runtime(
    options: DockerOptions, environment: dict[str, str] | None = None
) -> AsyncGenerator[DockerRuntime]:
    """The runtime, usable also while the engine is away; its calls then say so. `environment` tells where the engine
    is."""
    engine = Engine(environment)
    async with pools("docker-runtime", 16) as own:
        try:
            yield DockerRuntime(options, engine, own)
        finally:
            engine.close()
