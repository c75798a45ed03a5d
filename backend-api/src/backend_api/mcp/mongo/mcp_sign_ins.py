"""Users' sign-ins at MCP servers in MongoDB: one document for each user and server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC
from typing import Any

from pymongo.errors import DuplicateKeyError

from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_delete, find_one_and_update
from backend_api.kit.mongo.database import Document
from backend_api.kit.mongo.transactions import store_errors
from backend_api.mcp.domain.sign_in import SignIn
from backend_api.mcp.mongo.documents import McpSignInDocument
from backend_api.settings.domain.entity import Sealed
from backend_api.settings.mongo.user_settings import notify_of_settings


class MongoSignIns:
    """`SignIns` and `SealedSignIns` on the collection mcp_sign_ins."""

    async def of(self, user_id: UserId) -> Mapping[str, SignIn]:
        async with store_errors():
            return {one.server: _sign_in_from(one) async for one in McpSignInDocument.find({"user_id": user_id})}

    async def put(self, sign_in: SignIn) -> None:
        async with store_errors():
            await notify_of_settings(sign_in.user_id)
            await McpSignInDocument(id=_id_of(sign_in.user_id, sign_in.server), **_fields_of(sign_in)).save()

    async def replace(self, former: SignIn | None, fresh: SignIn) -> bool:
        id_, fields = _id_of(fresh.user_id, fresh.server), _fields_of(fresh)
        async with store_errors():
            if former is not None:
                wanted: Document = {"_id": id_, "version": former.version}
                change = {"$set": {**fields, "claimed_until": None}}
                return await find_one_and_update(McpSignInDocument, wanted, change) is not None
            try:
                await McpSignInDocument(id=id_, **fields).insert()
            except DuplicateKeyError:
                return False
            return True

    async def lack(self, sign_in: SignIn, scopes: str) -> bool:
        wanted: Document = {"_id": _id_of(sign_in.user_id, sign_in.server), "version": sign_in.version}
        change = {"$set": {"scopes": scopes, "lacks_scopes": True}}
        async with store_errors():
            return await find_one_and_update(McpSignInDocument, wanted, change) is not None

    async def claim(self, sign_in: SignIn, for_s: float) -> bool:
        is_free = {"$or": [{"$eq": ["$claimed_until", None]}, {"$lt": ["$claimed_until", "$$NOW"]}]}
        wanted: Document = {
            "_id": _id_of(sign_in.user_id, sign_in.server),
            "version": sign_in.version,
            "$expr": is_free,
        }
        change = {"claimed_until": {"$add": ["$$NOW", int(for_s * 1000)]}}
        async with store_errors():
            return await find_one_and_update(McpSignInDocument, wanted, [{"$set": change}]) is not None

    async def delete(self, user_id: UserId, server: str) -> SignIn | None:
        async with store_errors():
            found = await find_one_and_delete(McpSignInDocument, {"_id": _id_of(user_id, server)})
            return None if found is None else _sign_in_from(found)

    async def sealed_under_other_key(self, key_id: str) -> AsyncIterator[SignIn]:
        wanted: Document = {"sealed.key_id": {"$exists": True, "$ne": key_id}}
        async with store_errors():
            found = [_sign_in_from(one) async for one in McpSignInDocument.find(wanted)]
        for one in found:
            yield one

    async def reseal(self, sign_in: SignIn, fresh: Sealed) -> bool:
        wanted: Document = {"_id": _id_of(sign_in.user_id, sign_in.server), "sealed": _sealed_of(sign_in.sealed)}
        async with store_errors():
            change = {"$set": {"sealed": _sealed_of(fresh)}}
            return await find_one_and_update(McpSignInDocument, wanted, change) is not None


def _id_of(user_id: UserId, server: str) -> str:
    return f"{user_id}:{server}"


def _fields_of(sign_in: SignIn) -> dict[str, Any]:
    return {
        "user_id": sign_in.user_id,
        "server": sign_in.server,
        "binding": sign_in.binding,
        "version": sign_in.version,
        "at": sign_in.at,
        "sealed": _sealed_of(sign_in.sealed),
        "scopes": sign_in.scopes,
        "lacks_scopes": sign_in.lacks_scopes,
    }


def _sealed_of(sealed: Sealed | None) -> Document | None:
    return None if sealed is None else {"key_id": sealed.key_id, "text": sealed.text}


def _sign_in_from(stored: McpSignInDocument) -> SignIn:
    sealed = stored.sealed
    return SignIn(
        user_id=UserId(stored.user_id),
        server=stored.server,
        binding=stored.binding,
        version=stored.version,
        at=stored.at.replace(tzinfo=UTC),
        sealed=None if sealed is None else Sealed(key_id=str(sealed["key_id"]), text=str(sealed["text"])),
        scopes=stored.scopes,
        lacks_scopes=stored.lacks_scopes,
    )
