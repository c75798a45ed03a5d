"""The last change of a sandbox that any gateway read."""

from __future__ import annotations

from backend_api.conversations.mongo.documents import MarkDocument
from backend_api.kit.mongo.transactions import store_errors

_SANDBOXES = "computer_news"


class MongoChangeCursor:
    """`ChangeCursor`: one document, which gateways overwrite for each other. A change that is read twice is stored
    once."""

    async def load(self) -> str | None:
        async with store_errors():
            found = await MarkDocument.get(_SANDBOXES)
        return found.mark if found else None

    async def store(self, cursor: str) -> None:
        async with store_errors():
            await MarkDocument(id=_SANDBOXES, mark=cursor).save()
