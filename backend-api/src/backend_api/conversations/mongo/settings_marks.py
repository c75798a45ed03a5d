"""The version of their user's settings on sessions, so that a message of a user without any needs no look-up."""

from __future__ import annotations

from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.conversations.mongo.documents import SessionDocument
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import update_many
from backend_api.kit.mongo.database import Database, Document

FIRST_SETTINGS = 1
"""The version of settings that are still empty."""


async def mark_new_session(database: Database, session_id: str, user_id: UserId) -> None:
    """Marks a session after it is stored. See `MongoSettingsStore`."""
    found = await database["user_settings"].find_one({"_id": user_id})
    if found is not None:
        version = max(found.get("model_version") or 0, FIRST_SETTINGS)
        await mark_sessions({"_id": session_id}, version, found.get("model"))


async def settings_of_new_session(database: Database, transaction: AsyncClientSession, user_id: str) -> Document:
    """The settings fields for a session stored in this transaction; `mark_new_session` must still follow it."""
    found = await database["user_settings"].find_one({"_id": user_id}, session=transaction)
    if found is None:
        return {}
    return {
        "settings_version": max(found.get("model_version") or 0, FIRST_SETTINGS),
        "settings_model": found.get("model"),
    }


async def mark_sessions(sessions: Document, version: int, model: str | None) -> None:
    """Stores the version of their user's settings, and its model, on these sessions, unless they have a later one."""
    told = {"$set": {"settings_version": version, "settings_model": model}}
    await update_many(SessionDocument, {**sessions, **older_than(version)}, told)


def older_than(version: int) -> Document:
    """A filter for sessions with an older version or, from earlier versions of the program, none."""
    return {"settings_version": {"$not": {"$gte": version}}}
