"""A sandbox's endpoint for tests: a key pair, tokens, and the real tool API as a process on a unix socket."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from jose import jwt

from contracts.tools import ToolResult
from support.sources import source_folders

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(folder) for folder in source_folders("tool-api")]
BACKLOG = 128
ALL_SCOPES = ["exec", "files", "browser", "vnc:view", "vnc:control", "ports"]


class KeyPair:
    """What the manager has (private) and the sandbox knows (public)."""

    def __init__(self) -> None:
        key = generate_private_key(SECP256R1())
        self.private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        self.public_pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def setting(self) -> str:
        return base64.b64encode(self.public_pem.encode()).decode()

    def token(self, **claims: Any) -> str:
        """A token that is valid but for the claims given; a claim of None is left out."""
        defaults = {"aud": "tool-api", "sub": "sandbox-1", "gen": 1, "scopes": ALL_SCOPES}
        times = {"iat": int(time.time()), "exp": int(time.time()) + 300, "jti": os.urandom(8).hex()}
        named = {name: value for name, value in (defaults | times | claims).items() if value is not None}
        return jwt.encode(named, self.private_pem, algorithm="ES256")


@dataclass(slots=True)
class RunningEndpoint:
    """A tool API that answers."""

    process: subprocess.Popen[str]
    socket: Path
    workspace: Path
    keys: KeyPair
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def transport(self) -> httpx.HTTPTransport:
        return httpx.HTTPTransport(uds=str(self.socket))

    def client(self, *, timeout_s: float = 20.0, **claims: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.keys.token(**claims)}"}
        return httpx.Client(transport=self.transport(), base_url="http://endpoint", headers=headers, timeout=timeout_s)

    def new_call(self) -> str:
        return f"call-{next(self.numbers)}"

    def call(self, tool: str, **arguments: Any) -> ToolResult:
        """Run a tool to its end."""
        return self.frames(tool, **arguments)[1]

    def frames(self, tool: str, **arguments: Any) -> tuple[list[dict[str, Any]], ToolResult]:
        """Run a tool to its end; its output frames and its result."""
        with self.client() as client:
            body = {"call_id": self.new_call(), "arguments": arguments}
            answer = client.post(f"/tools/{tool}", json=body)
        assert answer.status_code == 200, answer.text
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert [line["type"] for line in lines] == ["output"] * (len(lines) - 1) + ["result"]
        return lines[:-1], ToolResult.model_validate(lines[-1]["result"])


def endpoint_environment(keys: KeyPair, workspace: Path, **settings: str) -> dict[str, str]:
    """The environment a manager gives the tool API, without a desktop unless asked for one; `SANDBOX_DOOR` is left to
    the caller."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(workspace.parent),
        "PYTHONPATH": os.pathsep.join(SOURCES),
        "SANDBOX_ID": "sandbox-1",
        "SANDBOX_GENERATION": "1",
        "SANDBOX_PUBLIC_KEY": keys.setting,
        "SANDBOX_DESKTOP": "false",
        "WORKSPACE": str(workspace),
    } | settings


@contextmanager
def running_endpoint(folder: Path, **settings: str) -> Generator[RunningEndpoint]:
    """The tool API as its own process; ended at the end."""
    keys, path, workspace = KeyPair(), folder / "door.sock", folder / "workspace"
    workspace.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    with (folder / "log").open("w") as log, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(BACKLOG)
        handed = listener.fileno()
        process = subprocess.Popen(
            [sys.executable, "-m", "tool_api"],
            env=endpoint_environment(keys, workspace, SANDBOX_DOOR=f"fd:{handed}", **settings),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            pass_fds=[handed],
        )
    assert process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], 60)
        line = process.stdout.readline() if ready else ""
        assert line == "tool-api: ready desktop=no\n", (folder / "log").read_text()
        yield RunningEndpoint(process, path, workspace, keys)
    finally:
        process.terminate()
        try:
            process.wait(10)
        finally:
            process.kill()
            process.wait(30)
            process.stdout.close()


def processes_with(text: str) -> list[int]:
    """Pids of living processes whose command line holds a text."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            is_dead = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")
            if not is_dead and text.encode() in (entry / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def await_true(condition: Any, timeout_s: float = 30.0) -> float:
    """Wait until something holds; answers how long it took, and fails after the time."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < timeout_s, "it did not come true in time"
        time.sleep(0.005)
    return time.monotonic() - started
