"""A stack named `own`, and bodies as the manager really sends them."""

from __future__ import annotations

import ipaddress
import json
from typing import Any

import pytest

from engine_filter.policy import Policy
from sandbox_manager.domain.workspace import ArchiveBounds
from sandbox_manager.infrastructure.runtimes.docker.archives import DockerArchives
from sandbox_manager.infrastructure.runtimes.docker.container import container_config
from support.sandboxes import docker_options, inside, new_identity, spec_of

Json = dict[str, Any]

OPTIONS = docker_options("own", inside(), "agent-sandbox:latest")


@pytest.fixture(scope="session")
def policy() -> Policy:
    return Policy(
        stack="own",
        images=frozenset({OPTIONS.image, "agent-sandbox:other"}),
        seccomp=json.loads(OPTIONS.seccomp_profile.read_text()),
        subnet_pool=ipaddress.IPv4Network("10.201.0.0/16"),
        memory_bytes=2048 << 20,
        nano_cpus=2_000_000_000,
        pids=512,
    )


def sandbox_body() -> Json:
    """What the manager really asks for."""
    seccomp = json.dumps(json.loads(OPTIONS.seccomp_profile.read_text()))
    return container_config(OPTIONS, spec_of(new_identity()), seccomp)


def archive_body(verb: str = "pack") -> Json:
    """What the manager really asks for."""
    unused: Any = None
    archives = DockerArchives(OPTIONS, unused, unused)
    return archives._config(verb, new_identity(), "snap-1", ArchiveBounds(max_bytes=1, max_files=1))


def guard_body() -> Json:
    """The least of a helper that sets up a sandbox's network."""
    return {
        "Image": OPTIONS.image,
        "User": "0:0",
        "WorkingDir": "/",
        "Entrypoint": ["python3", "-I", "-c", "print(1)\n"],
        "Cmd": [],
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {"agent-sandbox.stack": "own"},
        "HostConfig": {
            "Privileged": False,
            "CapDrop": ["ALL"],
            "CapAdd": ["NET_ADMIN"],
            "SecurityOpt": ["no-new-privileges:true"],
            "ReadonlyRootfs": True,
            "Memory": 64 << 20,
            "PidsLimit": 16,
            "NetworkMode": "container:own-0123",
            "RestartPolicy": {"Name": "no"},
        },
    }
