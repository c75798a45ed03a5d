"""The real compose stack for tests: a project of its own, on free ports, with the images named by IMAGE_TAG."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from support.servers import free_port
from support.stack import ROOT

UP_TIMEOUT_S = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeStack:
    """A running project: `base_url` is the page with the API, `api_url` the gateway's own address."""

    base_url: str
    api_url: str
    project: str
    environ: dict[str, str]

    def run(self, *verb: str, timeout_s: float = UP_TIMEOUT_S) -> str:
        """`./run.sh` with the verb; what it printed."""
        done = subprocess.run(
            [ROOT / "run.sh", *verb],
            env=self.environ,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        if done.returncode:
            pytest.fail(f"./run.sh {' '.join(verb)} ended with {done.returncode}:\n{done.stdout[-6000:]}")
        return done.stdout

    def containers(self) -> dict[str, str]:
        """Names and ids of every container of this stack, sandboxes included."""
        return self._listed("ps", "-a", "{{.Names}} {{.ID}}")

    def networks(self) -> dict[str, str]:
        return self._listed("network", "ls", "{{.Name}} {{.ID}}")

    def volumes(self) -> dict[str, str]:
        return self._listed("volume", "ls", "{{.Name}} {{.Name}}")

    def container_of(self, service: str) -> str:
        """Id of the one container of a service."""
        label = f"label=com.docker.compose.service={service}"
        return docker(
            "ps", "-aq", "--filter", label, "--filter", f"label=com.docker.compose.project={self.project}"
        ).strip()

    def services(self) -> list[str]:
        """Names of all services that have a container."""
        named = '{{.Label "com.docker.compose.service"}}'
        return docker("ps", "--filter", f"label=com.docker.compose.project={self.project}", "--format", named).split()

    @property
    def runner(self) -> str:
        """Where the agent runs."""
        return "worker"

    async def kill(self, name: str) -> None:
        """Kill a service as `kill -9` does, and start it again as its restart policy would after a crash."""
        service = {"gateway": "backend-api", "manager": "sandbox-manager"}.get(name, name)
        container = self.container_of(service)
        await asyncio.to_thread(docker, "kill", container)
        await asyncio.to_thread(docker, "start", container)

    def _listed(self, *words: str) -> dict[str, str]:
        *command, form = words
        pairs = (line.split() for line in docker(*command, "--format", form).splitlines())
        own = re.compile(rf"^{re.escape(self.project)}[-_]")
        return {name: found for name, found in pairs if own.match(name)}


def docker(*words: str) -> str:
    """What `docker` printed."""
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True, timeout=60).stdout


def _wait_until_answered(address: str) -> None:
    """The engine takes connections of a port before the program behind it does, and resets them."""
    ends = time.monotonic() + UP_TIMEOUT_S
    while True:
        try:
            httpx.get(address, timeout=10, trust_env=False)
        except httpx.TransportError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.2)
        else:
            return


@contextmanager
def run_compose_stack(**settings: str) -> Generator[ComposeStack]:
    """A project that is up for the length of the block and leaves nothing behind."""
    page, api = free_port(), free_port()
    project = f"t{secrets.token_hex(4)}"
    environ = dict(os.environ) | {
        "COMPOSE_PROJECT_NAME": project,
        "FRONTEND_PORT": str(page),
        "API_PORT": str(api),
        "JWT_SECRET_KEY": secrets.token_hex(32),
        "SANDBOX_MANAGER_TOKEN": secrets.token_hex(32),
        "REDIS_PASSWORD": secrets.token_hex(32),
        "SANDBOX_POOL_SIZE": "0",
        **settings,
    }
    stack = ComposeStack(
        base_url=f"http://127.0.0.1:{page}", api_url=f"http://127.0.0.1:{api}", project=project, environ=environ
    )
    try:
        try:
            stack.run("up", "-d")
            _wait_until_answered(stack.base_url)
        except BaseException:
            print(stack.run("logs", "--tail", "40"))  # noqa: T201 - shown by pytest beside the failure
            raise
        yield stack
    finally:
        stack.run("down", "-v")


@pytest.fixture(scope="session")
def compose_stack() -> Generator[ComposeStack]:
    """One project for all tests that only look at it or use it."""
    with run_compose_stack() as running:
        yield running
