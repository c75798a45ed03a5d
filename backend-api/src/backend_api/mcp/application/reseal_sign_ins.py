"""Bring what users were given at MCP servers under the key that seals now, after a rotation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from backend_api.mcp.application.user_sign_ins import bound_to
from backend_api.mcp.domain.sign_in import SealedSignIns
from backend_api.settings.application.resealing import ResealingMessages, SealedRecord, reseal
from backend_api.settings.ports import SecretBox

MESSAGES = ResealingMessages(
    store_away="sign-ins at MCP servers were not checked",
    resealed="sign-ins at MCP servers were re-encrypted with the first SECRETS_KEY",
    unreadable=(
        "SECRETS_KEY does not decrypt all sign-ins of users at MCP servers. They are kept, and not used: add the key "
        "they were stored with after the current one."
    ),
)


@dataclass(frozen=True, slots=True)
class ResealSignIns:
    """Reseals users' sign-ins at MCP servers, by `reseal`."""

    store: SealedSignIns
    box: SecretBox

    async def __call__(self) -> None:
        await reseal(self._records(), self.box, MESSAGES)

    async def _records(self) -> AsyncIterator[SealedRecord]:
        async for sign_in in self.store.sealed_under_other_key(self.box.key_id or ""):
            if sign_in.sealed is not None:
                yield SealedRecord(sign_in.sealed, bound_to(sign_in), partial(self.store.reseal, sign_in))
