"""Remote hosts for tests: a real `sshd`, signed in to with a key that was made for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.targets.domain import HostKey, KeyPair, SshHost, Target, TargetId
from backend_api.targets.ssh.connecting import Addresses
from backend_api.targets.ssh.connections import Connected, HostConnections
from backend_api.targets.ssh.hosts import HostTools
from backend_api.targets.ssh.keys import AsyncsshKeys
from support.gateway_sandboxes import a_sandbox
from support.sshd import Sshd

SESSION = "session-1"


async def resolve(host: str, port: int) -> list[str]:
    """By no name server."""
    del port
    return {"localhost": ["127.0.0.1"]}.get(host, [])


ANY = Addresses(access="any", resolve=resolve)


@dataclass(slots=True)
class Host:
    """The host, how it is signed in to, and what is called on it."""

    sshd: Sshd
    pair: KeyPair
    target: Target
    connections: HostConnections

    async def connect(self) -> Connected:
        return await self.connections.of(SESSION, self.target, self.pair.private)

    def at(self, port: int) -> None:
        """Through something that listens there."""
        self.target = replace(self.target, ssh=replace(self.target.ssh, port=port), version=self.target.version + 1)

    @property
    def sandbox(self) -> Sandbox:
        return replace(a_sandbox(session_id=SESSION), is_remote_host=True)

    def a_call(self, name: str, **arguments: Any) -> ToolCall:
        return ToolCall(session_id=SESSION, user_id="u", run_id="r", call_id="c", name=name, arguments=arguments)

    async def call(self, name: str, **arguments: Any) -> Done:
        await self.connect()
        return await HostTools(self.connections).call(self.sandbox, self.a_call(name, **arguments))


@asynccontextmanager
async def host_at(sshd: Sshd) -> AsyncGenerator[Host]:
    """That lets a new key in."""
    pair = AsyncsshKeys().generate("tests")
    sshd.authorize(pair.public)
    now = datetime.now(UTC)
    ssh = SshHost(
        host="127.0.0.1",
        port=sshd.port,
        username=sshd.username,
        folder="~/work",
        public_key=pair.public,
        host_key=HostKey(*sshd.host_key.split()),
    )
    target = Target(id=TargetId("host_1"), user_id=UserId("u"), name="Build", ssh=ssh, created_at=now, updated_at=now)
    async with HostConnections(ANY, keepalive_s=0.2) as connections:
        yield Host(sshd, pair, target, connections)
