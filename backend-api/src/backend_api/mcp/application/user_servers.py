"""The MCP servers of a user, with what was sealed of them opened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from backend_api.kit.ids import UserId
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.domain.user_servers import SecretValues, UserMcpServer, UserMcpServers
from backend_api.settings.domain.errors import SecretUnreadableError
from backend_api.settings.ports import SecretBox


@dataclass(frozen=True, slots=True)
class ServersOfUsers:
    """The servers of a user: the deployment's, `shared`, and those the user added. If both have one name, the shared
    one is used."""

    store: UserMcpServers
    box: SecretBox
    shared: Sequence[McpTarget] = field(default=())

    async def targets(self, user_id: UserId) -> list[McpTarget]:
        """The user's own that are enabled, and can be used. Raises `StoreUnavailableError`."""
        found = [self.target(user_id, own) for own in await self.store.of(user_id) if own.server.enabled]
        return [target for target in found if target is not None]

    def target(self, user_id: UserId, own: UserMcpServer) -> McpTarget | None:
        """The server with its secrets opened, or None if they can't be decrypted any more."""
        values = self.opened(user_id, own)
        return None if values is None else target_of(own.server, values)

    def opened(self, user_id: UserId, own: UserMcpServer) -> SecretValues | None:
        """The decrypted secrets, or None if they can't be decrypted any more."""
        if own.sealed is None:
            return SecretValues()
        try:
            text = self.box.open(own.sealed, bound_to=bound_to(user_id, own.server.name))
        except SecretUnreadableError:
            return None
        said = cast("dict[str, Any]", json.loads(text))
        return SecretValues(said["env"], said["headers"], said.get("client_secret", ""))

    def sealed(self, user_id: UserId, server: McpServer) -> UserMcpServer:
        """The server in its stored form. Raises `SecretsOffError` if it has secrets and they can't be sealed."""
        names = dict.fromkeys(server.env, ""), dict.fromkeys(server.headers, "")
        bare = replace(server, env=names[0], headers=names[1], client_secret="")
        if not server.env and not server.headers and not server.client_secret:
            return UserMcpServer(server=bare)
        values = {"env": {**server.env}, "headers": {**server.headers}, "client_secret": server.client_secret}
        text = json.dumps(values)
        return UserMcpServer(server=bare, sealed=self.box.seal(text, bound_to=bound_to(user_id, server.name)))

    async def find(self, user_id: UserId, name: str) -> McpTarget | None:
        """The server this name stands for, or None if there is none or its secrets can't be decrypted. Raises
        `StoreUnavailableError`."""
        shared = next((target for target in self.shared if target.name == name), None)
        if shared is not None:
            return shared
        own = next((own for own in await self.store.of(user_id) if own.server.name == name), None)
        return None if own is None else self.target(user_id, own)

    def is_shared(self, name: str) -> bool:
        """Whether the deployment has one of this name."""
        return any(target.name == name for target in self.shared)


def target_of(server: McpServer, values: SecretValues) -> McpTarget:
    """Fills a user's server with the values of its own variables only, never those of the deployment."""
    whole = replace(server, env=values.env, headers=values.headers, client_secret=values.client_secret)
    return McpTarget(server=whole, values=values.env)


def bound_to(user_id: UserId, name: str) -> str:
    """The context a server's sealed secrets are bound to: they open nowhere else."""
    return f"{user_id}\nmcp\n{name}"
