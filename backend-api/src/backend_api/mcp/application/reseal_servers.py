"""Bring the values of users' MCP servers under the key that seals now, after a rotation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from backend_api.mcp.application.user_servers import bound_to
from backend_api.mcp.domain.user_servers import SealedMcpServers
from backend_api.settings.application.resealing import ResealingMessages, SealedRecord, reseal
from backend_api.settings.ports import SecretBox

MESSAGES = ResealingMessages(
    store_away="values of MCP servers were not checked",
    resealed="MCP servers were re-encrypted with the first SECRETS_KEY",
    unreadable=(
        "SECRETS_KEY does not decrypt the values of all MCP servers that users stored. They are kept, and not used: "
        "add the key they were stored with after the current one."
    ),
)


@dataclass(frozen=True, slots=True)
class ResealMcpServers:
    """Reseals the secrets of users' MCP servers, by `reseal`."""

    store: SealedMcpServers
    box: SecretBox

    async def __call__(self) -> None:
        await reseal(self._records(), self.box, MESSAGES)

    async def _records(self) -> AsyncIterator[SealedRecord]:
        async for user_id, own in self.store.sealed_under_other_key(self.box.key_id or ""):
            if own.sealed is not None:
                name = own.server.name
                put = partial(self.store.reseal, user_id, name, own.sealed)
                yield SealedRecord(own.sealed, bound_to(user_id, name), put)
