"""MCP servers of users in MongoDB: a document a user, so that their number is bounded in one write."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC
from typing import Any

from pymongo.errors import DuplicateKeyError

from backend_api.kit.ids import UserId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.database import Document
from backend_api.kit.mongo.transactions import store_errors
from backend_api.mcp.domain.entity import McpServer
from backend_api.mcp.domain.user_servers import MAX_USER_SERVERS, McpTrial, TooManyMcpServersError, UserMcpServer
from backend_api.mcp.mongo.documents import McpServersDocument
from backend_api.settings.domain.entity import Sealed
from backend_api.settings.mongo.user_settings import notify_of_settings


class MongoMcpServers:
    """`UserMcpServers` and `SealedMcpServers` on the collection mcp_servers. A user with a server counts as having
    settings: the runs of others look for neither."""

    async def of(self, user_id: UserId) -> Sequence[UserMcpServer]:
        async with store_errors():
            document = await McpServersDocument.find_one({"_id": user_id})
        return sorted(map(_server_from, document.servers), key=lambda own: own.server.name) if document else ()

    async def put(self, user_id: UserId, own: UserMcpServer) -> None:
        name = own.server.name
        has_room = [{"servers.name": name}, {f"servers.{MAX_USER_SERVERS - 1}": {"$exists": False}}]
        change = {"servers": {"$concatArrays": [_without_server(name), {"$literal": [_document_of(own)]}]}}
        async with store_errors():
            await notify_of_settings(user_id)
            with suppress(DuplicateKeyError):
                await McpServersDocument(id=user_id).insert()
            wanted: Document = {"_id": user_id, "$or": has_room}
            if await find_one_and_update(McpServersDocument, wanted, [{"$set": change}]) is None:
                raise TooManyMcpServersError

    async def store_trial(self, user_id: UserId, tried: UserMcpServer, trial: McpTrial) -> bool:
        as_tried = {name: value for name, value in _document_of(tried).items() if name != "trial"}
        return await self._changed(user_id, as_tried, {"servers.$.trial": _trial_of(trial)})

    async def sealed_under_other_key(self, key_id: str) -> AsyncIterator[tuple[UserId, UserMcpServer]]:
        wanted: Document = {"servers": {"$elemMatch": {"sealed.key_id": {"$exists": True, "$ne": key_id}}}}
        async with store_errors():
            users = [document.id async for document in McpServersDocument.find(wanted)]
        for user_id in map(UserId, users):
            for own in await self.of(user_id):
                if own.sealed is not None and own.sealed.key_id != key_id:
                    yield user_id, own

    async def reseal(self, user_id: UserId, name: str, former: Sealed, fresh: Sealed) -> bool:
        held = {"name": name, "sealed": _sealed_of(former)}
        return await self._changed(user_id, held, {"servers.$.sealed": _sealed_of(fresh)})

    async def _changed(self, user_id: UserId, server: Document, change: Document) -> bool:
        wanted = {"_id": user_id, "servers": {"$elemMatch": server}}
        async with store_errors():
            return await find_one_and_update(McpServersDocument, wanted, {"$set": change}) is not None

    async def delete(self, user_id: UserId, name: str) -> bool:
        wanted, change = {"_id": user_id, "servers.name": name}, {"servers": _without_server(name)}
        async with store_errors():
            return await find_one_and_update(McpServersDocument, wanted, [{"$set": change}]) is not None


def _without_server(name: str) -> Document:
    return {"$filter": {"input": "$servers", "cond": {"$ne": ["$$this.name", {"$literal": name}]}}}


def _document_of(own: UserMcpServer) -> dict[str, Any]:
    server, sealed, trial = own.server, own.sealed, own.trial
    return {
        "name": server.name,
        "transport": server.transport,
        "url": server.url,
        **({"command": server.command, "args": [*server.args]} if server.command else {}),
        **({"client_id": server.client_id} if server.client_id else {}),
        "env": sorted(server.env),
        "headers": sorted(server.headers),
        "enabled": server.enabled,
        "tools": None if server.tools is None else sorted(server.tools),
        "sealed": None if sealed is None else _sealed_of(sealed),
        "trial": None if trial is None else _trial_of(trial),
    }


def _sealed_of(sealed: Sealed) -> Document:
    return {"key_id": sealed.key_id, "text": sealed.text}


def _trial_of(trial: McpTrial) -> Document:
    return {
        "config": trial.config,
        "at": trial.at,
        "status": trial.status,
        "tools": [*trial.tools],
        "error": trial.error,
        "cause": trial.cause,
    }


def _server_from(stored: dict[str, Any]) -> UserMcpServer:
    tools, sealed, trial = stored["tools"], stored["sealed"], stored["trial"]
    server = McpServer(
        name=str(stored["name"]),
        transport=stored["transport"],
        url=str(stored["url"]),
        command=str(stored.get("command", "")),
        args=tuple(map(str, stored.get("args", ()))),
        env=dict.fromkeys(stored["env"], ""),
        headers=dict.fromkeys(stored["headers"], ""),
        enabled=bool(stored["enabled"]),
        tools=None if tools is None else frozenset(tools),
        source="user",
        client_id=str(stored.get("client_id", "")),
    )
    return UserMcpServer(
        server=server,
        sealed=None if sealed is None else Sealed(key_id=str(sealed["key_id"]), text=str(sealed["text"])),
        trial=None
        if trial is None
        else McpTrial(
            config=str(trial["config"]),
            at=trial["at"].replace(tzinfo=UTC),
            status=trial["status"],
            tools=[*trial["tools"]],
            error=trial["error"],
            cause=trial.get("cause"),
        ),
    )
