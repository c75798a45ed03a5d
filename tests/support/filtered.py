"""A filter for the stack `own`, in front of an engine that also holds another stack's things."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_filter.policy import Policy
from engine_filter.server import Filter
from support.scripted_engine import ScriptedEngine, container

Json = dict[str, Any]

OWN, FOREIGN, GATEWAY = "a" * 64, "b" * 64, "c" * 64
NETWORK, FOREIGN_NETWORK = "d" * 64, "e" * 64
OWN_LABELS = {"agent-sandbox.stack": "own"}
OWN_NETWORK = {"Id": NETWORK, "Name": "own-net-1", "Labels": OWN_LABELS}
FOLDER = "/var/lib/docker/volumes/own-ws-pool/_data"
POLICY = Policy(
    stack="own",
    images=frozenset({"sandbox:1"}),
    seccomp={"defaultAction": "SCMP_ACT_ERRNO"},
    subnet_pool=ipaddress.IPv4Network("10.201.0.0/16"),
    memory_bytes=2048 << 20,
    nano_cpus=2_000_000_000,
    pids=512,
)
ENDPOINT = {"agent-sandbox.stack": "", "agent-sandbox.door-client": "own"}
HELD: Json = {
    "/_ping": "OK",
    "/version": {"ApiVersion": "1.41", "KernelVersion": "6"},
    "/info": {"ID": "X", "Name": "host", "Labels": ["secret"]},
    "/images/sandbox:1/json": {"Id": "sha256:1", "Config": {"Env": ["A=b"]}},
    **dict.fromkeys((f"/containers/{OWN}/json", "/containers/own-1/json"), container(OWN, "own")),
    **dict.fromkeys((f"/containers/{FOREIGN}/json", "/containers/other-1/json"), container(FOREIGN, "other")),
    f"/containers/{GATEWAY}/json": container(GATEWAY, "", labels=ENDPOINT),
    "/containers/json": [
        {"Id": OWN, "Labels": OWN_LABELS, "State": "running"},
        {"Id": FOREIGN, "Labels": {"agent-sandbox.stack": "other"}, "Command": "secret"},
        {"Id": GATEWAY, "Labels": ENDPOINT | {"token": "secret"}, "State": "running", "Command": "secret"},
    ],
    "/networks": [
        {"Id": NETWORK, "Name": "own-net-1", "Labels": OWN_LABELS, "IPAM": {}, "Containers": {}},
        {"Id": FOREIGN_NETWORK, "Name": "x", "Labels": {"a": "secret"}, "IPAM": {"Config": [{"Subnet": "10.0.0.0/8"}]}},
    ],
    **{
        key: {"Id": NETWORK, "Name": "own-net-1", "Labels": OWN_LABELS}
        for key in (f"/networks/{NETWORK}", "/networks/own-net-1", "/networks/own-net-part")
    },
    "/networks/other-net-1": {"Id": FOREIGN_NETWORK, "Name": "other-net-1", "Labels": {"agent-sandbox.stack": "other"}},
    "/networks/host": {"Id": "f" * 64, "Name": "host", "Labels": {}},
    "/volumes": {"Volumes": [{"Name": "own-ws-1", "Labels": OWN_LABELS}, {"Name": "x", "Labels": {"a": "secret"}}]},
    "/volumes/own-ws-1": {"Name": "own-ws-1", "Driver": "local", "Labels": OWN_LABELS, "Options": None},
    "/volumes/own-ws-pool": {"Name": "own-ws-pool", "Driver": "local", "Labels": OWN_LABELS, "Mountpoint": FOLDER},
    "/volumes/own-ws-evil": {
        "Name": "own-ws-evil",
        "Driver": "local",
        "Labels": OWN_LABELS | {"agent-sandbox.same-as": "own-ws-pool"},
        "Options": {"type": "none", "o": "bind", "device": "/etc"},
    },
    "/volumes/own-ws-foreign": {
        "Name": "own-ws-foreign",
        "Driver": "local",
        "Labels": {"agent-sandbox.stack": "other"},
    },
}


@dataclass
class Setting:
    engine: ScriptedEngine
    socket: Path

    async def raw(self, data: bytes, within_s: float = 0.3) -> bytes:
        """What is answered to these bytes."""
        reader, writer = await asyncio.open_unix_connection(self.socket)
        answer = bytearray()
        try:
            with contextlib.suppress(ConnectionError, TimeoutError):
                writer.write(data)
                async with asyncio.timeout(within_s):
                    while piece := await reader.read(65536):
                        answer += piece
            return bytes(answer)
        finally:
            writer.close()

    async def ask(self, method: str, target: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """Status and JSON of the answer."""
        text = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}\r\n{more}\r\n"
        reader, writer = await asyncio.open_unix_connection(self.socket)
        writer.write(head.encode() + text)
        async with asyncio.timeout(10):
            answer = await reader.read()
        writer.close()
        first, _, rest = answer.partition(b"\r\n")
        _, _, told = rest.partition(b"\r\n\r\n")
        if b"chunked" in rest.partition(b"\r\n\r\n")[0]:
            told = b"".join(told.split(b"\r\n")[1::2])
        return int(first.split()[1]), json.loads(told) if told else None


@contextlib.asynccontextmanager
async def a_setting() -> AsyncGenerator[Setting]:
    with tempfile.TemporaryDirectory(prefix="wire-", dir="/tmp") as folder:
        engine = ScriptedEngine(HELD)
        async with (
            engine.listening(Path(folder, "engine")),
            Filter(POLICY, f"{folder}/engine").listening(Path(folder, "filter")),
        ):
            yield Setting(engine, Path(folder, "filter"))
