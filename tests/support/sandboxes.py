"""Sandboxes for tests: options of the real runtimes, identities, and commands run through a real endpoint."""

from __future__ import annotations

import json
import os
import secrets
import ssl
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import docker
import httpx
from docker.errors import DockerException

from sandbox_manager.domain.ports import SandboxSpec
from sandbox_manager.domain.sandbox import Identity, Started, pool_session
from sandbox_manager.infrastructure.runtimes.docker.options import DockerOptions
from sandbox_manager.infrastructure.runtimes.process.options import ProcessOptions
from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile
from sandbox_manager.infrastructure.token_keys import Es256TokenKeys, generate_private_key
from support.sources import source_folders

ROOT = Path(__file__).resolve().parents[2]
KEYS = Es256TokenKeys(generate_private_key())
SCOPES = ["exec", "files", "browser", "vnc:view", "vnc:control"]
MIB = 1024 * 1024
START_S = 60.0
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
HOST_FIB_TRIE = Path("/proc/net/fib_trie")
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def inside(*, desktop: bool = False, memory_mib: int = 1024, pids: int = 512) -> SandboxProfile:
    return SandboxProfile(
        desktop=desktop,
        bash_timeout=60,
        allowed_commands="",
        max_upload_bytes=10 * MIB,
        memory_bytes=memory_mib * MIB,
        cpus=2.0,
        pids=pids,
    )


def process_options(folder: Path, given: SandboxProfile, stack: str = "test") -> ProcessOptions:
    return ProcessOptions(
        stack=stack,
        folder=folder,
        python=ROOT / ".venv-sandbox" / "bin" / "python",
        python_path=source_folders("tool-api"),
        kernel_python=ROOT / ".venv-kernels" / "bin" / "python",
        unsafe=False,
        blocked_subnets=PRIVATE,
        host_fib_trie=HOST_FIB_TRIE,
        seccomp_profile=ROOT / "sandbox-image" / "seccomp.json",
        inside=given,
    )


def docker_options(stack: str, given: SandboxProfile, image: str | None = None) -> DockerOptions:
    """`image` where no engine is to be asked which there is."""
    return DockerOptions(
        stack=stack,
        image=image or sandbox_image(),
        seccomp_profile=ROOT / "sandbox-image" / "seccomp.json",
        subnet_pool="10.201.0.0/16",
        blocked_subnets=PRIVATE,
        host_fib_trie=HOST_FIB_TRIE,
        inside=given,
    )


def sandbox_image() -> str:
    """The image built for this stack, else one built for development."""
    with closing(docker.from_env()) as client:
        for name in (os.environ.get("SANDBOX_IMAGE"), "agent-sandbox:latest", "agent-sandbox:dev"):
            if name and client.images.list(name=name):
                return name
    return os.environ.get("SANDBOX_IMAGE") or "agent-sandbox:latest"


def why_no_docker() -> str | None:
    """Why sandboxes can't be containers here; None when they can."""
    address = urlsplit(os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    # The SDK leaves a socket behind that could not be connected, which fails whatever test comes next.
    if address.scheme == "unix" and not Path(address.path).exists():
        return f"no Docker engine answers: there is no {address.path}"
    try:
        with closing(docker.from_env()) as client:
            client.ping()  # pyright: ignore[reportUnknownMemberType] - the driver leaves it untyped
            if not client.images.list(name=sandbox_image()):
                return f"the image {sandbox_image()} is not built: ./build.sh"
    except DockerException as error:
        return f"no Docker engine answers: {error}"
    return None


def new_identity(session_id: str | None = None, generation: int = 1) -> Identity:
    return Identity(
        sandbox_id=secrets.token_hex(8),
        session_id=session_id or f"session-{secrets.token_hex(4)}",
        user_id="user-1",
        generation=generation,
    )


def new_pooled() -> Identity:
    """Of a sandbox nobody claimed yet."""
    sandbox_id = secrets.token_hex(8)
    return Identity(sandbox_id=sandbox_id, session_id=pool_session(sandbox_id), user_id="", generation=0)


def spec_of(identity: Identity) -> SandboxSpec:
    return SandboxSpec(identity=identity, public_key=KEYS.public_key)


def endpoint_client(started: Started, identity: Identity) -> httpx.AsyncClient:
    """A client of a sandbox's endpoint with a token for all scopes, which also claims one from the pool."""
    now = datetime.now(UTC)
    end = now + timedelta(hours=1)
    token = KEYS.sign(identity, SCOPES, now, now + timedelta(minutes=10), claim_until=end)
    headers = {"Authorization": f"Bearer {token}"}
    return client_at(started.endpoint, headers)


def client_at(endpoint: str, headers: dict[str, str]) -> httpx.AsyncClient:
    if endpoint.startswith("unix:"):
        transport = httpx.AsyncHTTPTransport(uds=endpoint.removeprefix("unix:"), verify=_NO_TLS)
        return httpx.AsyncClient(transport=transport, base_url="http://endpoint", headers=headers, timeout=60)
    return httpx.AsyncClient(base_url=endpoint, headers=headers, timeout=60, verify=_NO_TLS, trust_env=False)


async def run_inside(started: Started, identity: Identity, command: str) -> str:
    """What a command in the sandbox writes, and its exit code on a last line."""
    async with endpoint_client(started, identity) as client:
        return await run_through(client, command)


async def run_through(client: httpx.AsyncClient, command: str) -> str:
    body = {"call_id": secrets.token_hex(8), "arguments": {"command": f"{command}\necho exit=$?"}}
    answer = await client.post("/tools/shell_exec", json=body)
    answer.raise_for_status()
    frames: list[dict[str, Any]] = [json.loads(line) for line in answer.text.splitlines() if line]
    return str(frames[-1]["result"]["output"])
