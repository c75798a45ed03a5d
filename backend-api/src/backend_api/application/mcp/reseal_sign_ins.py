"""Bring what users were given at MCP servers under the key that seals now, after a rotation."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from backend_api.application.mcp.user_sign_ins import bound_to
from backend_api.domain.errors import StoreUnavailableError
from backend_api.domain.mcp.sign_in import SealedSignIns
from backend_api.domain.settings.errors import SecretUnreadableError
from backend_api.domain.settings.ports import SecretBox

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResealSignIns:
    """Once, at a start. What can't be opened is left as it is, and told by name of the setting that is wrong."""

    store: SealedSignIns
    box: SecretBox

    async def __call__(self) -> None:
        try:
            await self._reseal()
        except StoreUnavailableError as error:
            logger.warning("sign-ins at MCP servers were not looked through", extra={"reason": error.detail})

    async def _reseal(self) -> None:
        resealed = unreadable = 0
        async for sign_in in self.store.sealed_otherwise(self.box.key_id or ""):
            if sign_in.sealed is None:
                continue
            try:
                text = self.box.open(sign_in.sealed, bound_to=bound_to(sign_in))
            except SecretUnreadableError:
                unreadable += 1
                continue
            resealed += await self.store.reseal(sign_in, self.box.seal(text, bound_to=bound_to(sign_in)))
        if resealed:
            logger.info("sign-ins at MCP servers were sealed under the first SECRETS_KEY", extra={"sign_ins": resealed})
        if unreadable:
            logger.error(
                "SECRETS_KEY does not open all sign-ins of users at MCP servers. They are kept, and not used: put the "
                "key they were stored under behind the present one.",
                extra={"sign_ins": unreadable},
            )
