"""The gateway's modules, as tests need them."""

from __future__ import annotations

from collections.abc import Sequence

from beanie import Document

from backend_api.kit.ids import UserId
from backend_api.main.modules import MODULES

MODULE_DOCUMENTS: Sequence[type[Document]] = [one for module in MODULES for one in module.documents]


async def nothing_loaded(user_id: UserId) -> Sequence[object]:
    """What a capability loads of a user who has nothing."""
    del user_id
    return ()
