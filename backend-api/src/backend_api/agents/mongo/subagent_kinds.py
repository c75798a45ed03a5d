"""Users' kinds of sub-agents in MongoDB: one document for each user, so that one write bounds their number."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pymongo.errors import DuplicateKeyError

from backend_api.agent.subagent_kinds import MAX_KINDS, SubagentKind
from backend_api.agents.domain import TooManyKindsError
from backend_api.agents.mongo.documents import SubagentKindsDocument
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.database import Document
from backend_api.kit.mongo.transactions import store_errors
from backend_api.settings.mongo.user_settings import notify_of_settings


class MongoSubagentKinds:
    """`UserKinds` on the collection subagent_kinds. A user with kinds is marked as having settings: a run of a user
    without the mark reads neither."""

    async def of(self, user_id: UserId) -> Sequence[SubagentKind]:
        async with store_errors():
            document = await SubagentKindsDocument.find_one({"_id": user_id})
        return sorted(map(_kind_from, document.kinds), key=lambda kind: kind.name) if document else ()

    async def put(self, user_id: UserId, kind: SubagentKind) -> None:
        has_room = [{"kinds.name": kind.name}, {f"kinds.{MAX_KINDS - 1}": {"$exists": False}}]
        change = {"kinds": {"$concatArrays": [_without_kind(kind.name), {"$literal": [_document_of(kind)]}]}}
        async with store_errors():
            await notify_of_settings(user_id)
            with suppress(DuplicateKeyError):
                await SubagentKindsDocument(id=user_id).insert()
            wanted: Document = {"_id": user_id, "$or": has_room}
            if await find_one_and_update(SubagentKindsDocument, wanted, [{"$set": change}]) is None:
                raise TooManyKindsError

    async def delete(self, user_id: UserId, name: str) -> bool:
        wanted, change = {"_id": user_id, "kinds.name": name}, {"kinds": _without_kind(name)}
        async with store_errors():
            return await find_one_and_update(SubagentKindsDocument, wanted, [{"$set": change}]) is not None


def _without_kind(name: str) -> Document:
    return {"$filter": {"input": "$kinds", "cond": {"$ne": ["$$this.name", {"$literal": name}]}}}


def _document_of(kind: SubagentKind) -> dict[str, Any]:
    return {
        "name": kind.name,
        "description": kind.description,
        "prompt": kind.prompt,
        "tools": None if kind.tools is None else sorted(kind.tools),
        "model": kind.model,
        "max_calls": kind.max_calls,
        "max_tokens": kind.max_tokens,
        "max_minutes": kind.max_minutes,
    }


def _kind_from(stored: dict[str, Any]) -> SubagentKind:
    tools = stored["tools"]
    return SubagentKind(
        name=str(stored["name"]),
        description=str(stored["description"]),
        prompt=str(stored["prompt"]),
        tools=None if tools is None else frozenset(tools),
        model=stored["model"],
        # Those that were written before there were any have none.
        max_calls=stored.get("max_calls"),
        max_tokens=stored.get("max_tokens"),
        max_minutes=stored.get("max_minutes"),
    )
