"""Bring the values of users' MCP servers under the key that seals now, after a rotation."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from backend_api.application.mcp.own_servers import bound_to
from backend_api.domain.errors import StoreUnavailableError
from backend_api.domain.mcp.own import SealedMcpServers
from backend_api.domain.settings.errors import SecretUnreadableError
from backend_api.domain.settings.ports import SecretBox

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResealMcpServers:
    """Once, at a start. What can't be opened is left as it is, and told by name of the setting that is wrong."""

    store: SealedMcpServers
    box: SecretBox

    async def __call__(self) -> None:
        try:
            await self._reseal()
        except StoreUnavailableError as error:
            logger.warning("values of MCP servers were not looked through", extra={"reason": error.detail})

    async def _reseal(self) -> None:
        resealed = unreadable = 0
        async for user_id, own in self.store.sealed_otherwise(self.box.key_id or ""):
            if own.sealed is None:
                continue
            name = own.server.name
            bound = bound_to(user_id, name)
            try:
                values = self.box.open(own.sealed, bound_to=bound)
            except SecretUnreadableError:
                unreadable += 1
                continue
            resealed += await self.store.reseal(user_id, name, own.sealed, self.box.seal(values, bound_to=bound))
        if resealed:
            logger.info("MCP servers were sealed under the first SECRETS_KEY", extra={"servers": resealed})
        if unreadable:
            logger.error(
                "SECRETS_KEY does not open the values of all MCP servers that users stored. They are kept, and not "
                "used: put the key they were stored under behind the present one.",
                extra={"servers": unreadable},
            )
