"""The container of a sandbox: the only shape this manager can request from the engine."""

from __future__ import annotations

import logging
from typing import Any

from sandbox_manager.domain.ports import SandboxSpec
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine, dig
from sandbox_manager.infrastructure.runtimes.docker.naming import (
    choice_labels,
    labels_of,
    network_name,
    volume_name,
)
from sandbox_manager.infrastructure.runtimes.docker.options import DockerOptions

_log = logging.getLogger(__name__)

ENDPOINT_PORT = 7000
_MIB = 1024 * 1024
# Less than a container's default of 1,024: the services, which are containers too, come first.
_SHARES = 64
_OWNED = "uid=1000,gid=1000"


def container_config(options: DockerOptions, spec: SandboxSpec, seccomp: str) -> dict[str, Any]:
    """Body of the create call. No parameter of it can make a container privileged, of the host, or bound to it."""
    inside = options.inside.of(spec.configuration)
    return {
        "Image": spec.configuration.image or options.image,
        "Hostname": "sandbox",
        "User": "1000:1000",
        "WorkingDir": "/",
        "Env": [
            f"{name}={value}" for name, value in inside.environment(spec, f"tcp://0.0.0.0:{ENDPOINT_PORT}").items()
        ],
        "Labels": labels_of(spec.identity, options.stack) | choice_labels(spec.configuration),
        "AttachStdin": False,
        "OpenStdin": True,
        "Tty": False,
        "HostConfig": {
            "Privileged": False,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges:true", f"seccomp={seccomp}"],
            "ReadonlyRootfs": True,
            "Tmpfs": {
                "/tmp": f"rw,nosuid,nodev,exec,mode=1777,size={1024 * _MIB}",
                "/var/tmp": f"rw,nosuid,nodev,exec,mode=1777,size={256 * _MIB}",
                "/run/sandbox": f"rw,nosuid,nodev,noexec,mode=0700,{_OWNED},size={64 * _MIB}",
                "/home/agent": f"rw,nosuid,nodev,exec,mode=0700,{_OWNED},size={1024 * _MIB}",
                "/skills": f"rw,nosuid,nodev,exec,mode=0755,{_OWNED},size={64 * _MIB}",
            },
            "ShmSize": 512 * _MIB,
            "Memory": inside.memory_bytes,
            "MemorySwap": inside.memory_bytes,
            "NanoCpus": int(inside.cpus * 1_000_000_000),
            "CpuShares": _SHARES,
            "PidsLimit": inside.pids,
            "LogConfig": {"Type": "json-file", "Config": {"max-size": "10m", "max-file": "2"}},
            "NetworkMode": network_name(options.stack, spec.identity),
            "IpcMode": "private",
            "RestartPolicy": {"Name": "no"},
            "Mounts": [{"Type": "volume", "Source": volume_name(options.stack, spec.identity), "Target": "/workspace"}],
        },
    }


def why_ended(engine: Engine, name: str) -> str:
    """The reason why a container ended before it was ready."""
    container = engine.container(name)
    output = engine.last_errors(name) if container else ""
    _log.warning("sandbox container ended early", extra={"container": name, "output": output[-2000:]})
    return f"The sandbox's container ended before it was ready (exit code {dig(container, 'State', 'ExitCode')})."
