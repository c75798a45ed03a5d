"""Whether a link's owner still has an account."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.identity.ports import Users
from backend_api.sharing.domain.entity import Share


@dataclass(frozen=True, slots=True)
class OwnerAccount:
    """A link holds for as long as its owner has an account that is not disabled."""

    users: Users

    async def holds(self, share: Share) -> bool:
        """Whether it does now."""
        account = await self.users.get(share.user_id)
        return account is not None and account.user.is_active
