"""Access to an opened port, and the sandbox that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.domain.entity import AccessClaims
from backend_api.previews.application.open_port import PreviewPolicy
from backend_api.previews.application.preview_connections import PreviewConnections
from backend_api.previews.domain.entity import OpenedPort, PortId, PreviewGrant
from backend_api.previews.domain.errors import PortNotFoundError, PreviewTokenError, SandboxNotRunningError
from backend_api.previews.ports import OpenedPorts, PreviewTokens, SandboxApps
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.ports import RemoteHosts, RunningSandboxes


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachPort:
    """Nothing is cached between requests: the port, its session, its user and the log-in are looked up each time."""

    ports: OpenedPorts
    tokens: PreviewTokens
    log_ins: AuthenticatedConnections
    sandboxes: RunningSandboxes
    hosts: RemoteHosts | None = None
    apps: SandboxApps
    connections: PreviewConnections
    policy: PreviewPolicy

    async def enter(self, port_id: PortId, address: str) -> str:
        """The cookie that the browser gets for the token of an address. Raises `PreviewTokenError`,
        `PortNotFoundError`, `TokenInvalidError`."""
        grant = self.tokens.read_address(address)
        await self._checked(port_id, grant)
        return self.tokens.sign_cookie(grant, expires_s=self.policy.cookie_ttl_s)

    async def admit(self, port_id: PortId, cookies: Iterable[str]) -> tuple[OpenedPort, AccessClaims]:
        """The port and log-in that one of the cookies grants. Raises as `enter` does."""
        grant = self._grant(port_id, cookies)
        return await self._checked(port_id, grant), grant.claims

    async def sandbox_of(self, port: OpenedPort) -> Sandbox:
        """The port's sandbox, which is not started for this; a remote host is connected to. Raises
        `SandboxNotRunningError`, `SandboxUnavailableError`."""
        if self.hosts is not None and await self.hosts.has(port.session_id):
            return await self.hosts.ensure(port.session_id)
        sandbox = await self.sandboxes.running(port.session_id)
        if sandbox is None:
            raise SandboxNotRunningError("The computer of this conversation is not running.")
        return sandbox

    def _grant(self, port_id: PortId, cookies: Iterable[str]) -> PreviewGrant:
        for cookie in cookies:
            try:
                grant = self.tokens.read_cookie(cookie)
            except PreviewTokenError:
                continue
            if grant.port_id == port_id:
                return grant
        raise PreviewTokenError("Open the port from the conversation.")

    async def _checked(self, port_id: PortId, grant: PreviewGrant) -> OpenedPort:
        port = (await self.ports.present([port_id])).get(port_id)
        if port is None:
            raise PortNotFoundError("This port is not open.")
        if grant.port_id != port_id or grant.claims.user_id != port.user_id:
            raise PreviewTokenError("Open the port from the conversation.")
        await self.log_ins.check(grant.claims)
        return port
