"""Ports on this machine."""

from __future__ import annotations

import json
import secrets
import socket
from pathlib import Path

from local_stack.errors import StackError

_LOWEST, _COUNT = 15_000, 17_000
"""Linux gives 32,768 and more by itself."""
_DRAWS = 1_000


def is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def claim_public_port(host: str, port: int) -> int:
    """The port people open, or a free one for 0. Raises `StackError` when it is taken, or the host is not this one."""
    if port == 0:
        return _free_port(host)
    if not is_free(host, port):
        raise StackError(
            f"Port {port} on {host} is in use or not allowed. Choose another one: PORT={port + 1} ./run.sh local"
        )
    return port


def inner_ports(remembered: Path, names: tuple[str, ...], public_port: int) -> dict[str, int]:
    """Free loopback ports beside the public one, the same as last time where they are still free."""
    known: dict[str, int] = {}
    if remembered.is_file():
        try:
            known = json.loads(remembered.read_text(encoding="utf-8"))
        except ValueError:
            known = {}
    ports: dict[str, int] = {}
    for name in names:
        port = known.get(name, 0)
        while port in {0, public_port, *ports.values()} or not is_free("127.0.0.1", port):
            port = _free_port("127.0.0.1")
        ports[name] = port
    remembered.write_text(json.dumps(ports), encoding="utf-8")
    return ports


def _free_port(host: str) -> int:
    """Below those that the system gives to whoever connects somewhere: while a service is down, one of these could be
    taken, by its own clients that try to reach it, too. Raises `StackError` where none is found."""
    for _ in range(_DRAWS):
        port = _LOWEST + secrets.randbelow(_COUNT)
        if is_free(host, port):
            return port
    raise StackError(f"No port is free on {host}. If this machine has no such address, choose another HOST.")
