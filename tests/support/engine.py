"""What a stack of sandboxes has at the Docker engine: looked at, hurt and removed from outside."""

from __future__ import annotations

import io
import random
import tarfile
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from typing import Any

import docker
from docker.errors import APIError, NotFound

from sandbox_manager.infrastructure.runtimes.docker.naming import STACK
from support.sandboxes import sandbox_image

_KINDS = ("containers", "networks", "volumes")


def of_stack(stack: str) -> dict[str, list[str]]:
    """Names of all it has, by kind."""
    with _engine() as client:
        return {kind: [str(one.name) for one in _all(client, kind, stack)] for kind in _KINDS}


def kill_one_of(stack: str, chance: random.Random) -> bool:
    """Whether a container that ran was killed."""
    with _engine() as client:
        running = [one for one in _all(client, "containers", stack) if one.status == "running"]
        if not running:
            return False
        with suppress(APIError):  # it was about to end by itself
            chance.choice(sorted(running, key=lambda one: one.name)).kill()
            return True
    return False


def read_in_volume(volume: str, path: str) -> str:
    """What a file in it says; nothing where either is missing."""
    with _engine() as client:
        if volume not in [one.name for one in client.volumes.list(filters={"name": volume})]:
            return ""
        # Never started: the engine mounts its volumes for a copy all the same.
        holder = client.containers.create(sandbox_image(), volumes={volume: {"bind": "/held", "mode": "ro"}})
        try:
            pieces, _ = holder.get_archive(f"/held/{path}")
            with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
                file = archive.extractfile(archive.getmembers()[0])
                return file.read().decode() if file else ""
        except NotFound:
            return ""
        finally:
            holder.remove(force=True)


def remove_stack(stack: str) -> None:
    """Nothing of it stays."""
    with _engine() as client:
        for container in _all(client, "containers", stack):
            container.remove(force=True)
        for network in _all(client, "networks", stack):
            network.remove()
        for volume in _all(client, "volumes", stack):
            volume.remove(force=True)


@contextmanager
def _engine() -> Generator[Any]:
    with closing(docker.from_env()) as client:
        yield client


def _all(client: Any, kind: str, stack: str) -> list[Any]:
    more = {"all": True, "ignore_removed": True} if kind == "containers" else {}
    return list(getattr(client, kind).list(filters={"label": [f"{STACK}={stack}"]}, **more))
