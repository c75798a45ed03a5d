"""Settings of users in MongoDB: one document per user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from pymongo.errors import DuplicateKeyError

from backend_api.conversations.mongo.documents import SessionDocument
from backend_api.conversations.mongo.settings_marks import FIRST_SETTINGS, mark_sessions, older_than
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update, update_many
from backend_api.kit.mongo.database import Document
from backend_api.kit.mongo.transactions import store_errors
from backend_api.settings.domain.entity import Sealed, StoredSettings
from backend_api.settings.mongo.documents import UserSettingsDocument


class MongoSettingsStore:
    """`SettingsStore` on the collection user_settings.

    A message costs no read of settings if there are none: sessions carry `settings_version`, 0 for a user who never set
    any. So a user's first setting is stored in this order: an empty document, then the mark in all sessions, then the
    setting. A session that is created meanwhile is stored before its creator looks for the document
    (`mark_new_session`), so one of the two marks it.
    """

    async def get(self, user_id: UserId) -> StoredSettings | None:
        async with store_errors():
            document = await UserSettingsDocument.find_one({"_id": user_id})
        return _settings_from(document) if document else None

    async def change(self, user_id: UserId, name: str, value: Any, *, invalidates: str = "") -> StoredSettings:
        async with store_errors():
            await notify_of_settings(user_id)
            change = _change(name, value, invalidates)
            document = await find_one_and_update(UserSettingsDocument, {"_id": user_id}, [{"$set": change}])
        assert document is not None, "settings are deleted only with their user"
        return _settings_from(document)

    async def notify_sessions(self, user_id: UserId, version: int, model: str | None) -> None:
        async with store_errors():
            older = {"_id": user_id, "model_version": {"$lt": version}}
            await update_many(UserSettingsDocument, older, {"$set": {"model": model, "model_version": version}})
            await mark_sessions({"user_id": user_id}, version, model)

    async def sealed_under_other_key(self, key_id: str) -> AsyncIterator[StoredSettings]:
        wanted: Document = {"secrets": {"$elemMatch": {"key_id": {"$ne": key_id}}}}
        async with store_errors():
            users = [document.id async for document in UserSettingsDocument.find(wanted)]
        for user_id in users:
            stored = await self.get(UserId(user_id))
            if stored is not None:
                yield stored

    async def reseal(self, user_id: UserId, name: str, former: Sealed, fresh: Sealed) -> bool:
        held = {"name": name, "key_id": former.key_id, "text": former.text}
        change = {"secrets.$.key_id": fresh.key_id, "secrets.$.text": fresh.text}
        async with store_errors():
            wanted = {"_id": user_id, "secrets": {"$elemMatch": held}}
            return await find_one_and_update(UserSettingsDocument, wanted, {"$set": change}) is not None


async def notify_of_settings(user_id: UserId) -> None:
    """Mark all sessions of the user as having settings to read. See `MongoSettingsStore`."""
    if await UserSettingsDocument.find_one({"_id": user_id, "is_told": True}) is None:
        with suppress(DuplicateKeyError):
            await UserSettingsDocument(id=user_id, version=FIRST_SETTINGS).insert()
        unmarked = {"user_id": user_id, **older_than(FIRST_SETTINGS)}
        await update_many(SessionDocument, unmarked, {"$set": {"settings_version": FIRST_SETTINGS}})


def _change(name: str, value: Any, invalidates: str) -> Document:
    kept = {"$filter": {"input": "$values", "cond": {"$ne": ["$$this.name", name]}}}
    secrets: list[Document] = []
    values: list[Document] = []
    if isinstance(value, Sealed):
        secrets.append({"name": name, "key_id": value.key_id, "text": value.text})
    elif value is not None:
        values.append({"name": name, "value": value})
    present = {"$filter": {"input": "$values", "cond": {"$eq": ["$$this.name", name]}}}
    gone = {"$cond": [{"$eq": [present, {"$literal": values}]}, [name], [name, invalidates]]}
    others = {"$filter": {"input": "$secrets", "cond": {"$not": [{"$in": ["$$this.name", gone]}]}}}
    return {
        "secrets": {"$concatArrays": [others, {"$literal": secrets}]},
        "values": {"$concatArrays": [kept, {"$literal": values}]},
        "version": {"$add": ["$version", 1]},
        "is_told": True,
    }


def _settings_from(document: UserSettingsDocument) -> StoredSettings:
    return StoredSettings(
        user_id=UserId(document.id),
        version=document.version,
        values={str(one["name"]): one["value"] for one in document.values},
        secrets={
            str(one["name"]): Sealed(key_id=str(one["key_id"]), text=str(one["text"])) for one in document.secrets
        },
    )
