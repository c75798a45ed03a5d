"""A replica set of one: transactions and change streams need it, also when its port has changed."""

from __future__ import annotations

from typing import Any

from pymongo import AsyncMongoClient
from pymongo.errors import OperationFailure, PyMongoError

NAME = "rs0"
_NOT_YET_INITIALIZED = 94


class ReplicaSet:
    """The set with one member, `host:port`."""

    def __init__(self, member: str, user: str | None = None, password: str | None = None) -> None:
        self._member = member
        self._user = user
        self._password = password

    async def is_primary(self) -> bool:
        """Whether it takes writes; moves it one step in that direction where it does not."""
        client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
            f"mongodb://{self._member}/",
            directConnection=True,
            serverSelectionTimeoutMS=1000,
            username=self._user,
            password=self._password,
        )
        async with client:
            try:
                return await self._step(client)
            except PyMongoError:
                return False

    async def _step(self, client: AsyncMongoClient[dict[str, Any]]) -> bool:
        hello = await client.admin.command("hello")
        if hello.get("isWritablePrimary"):
            return True
        try:
            config: dict[str, Any] = (await client.admin.command("replSetGetConfig"))["config"]
        except OperationFailure as error:
            if error.code == _NOT_YET_INITIALIZED:
                members = [{"_id": 0, "host": self._member}]
                await client.admin.command("replSetInitiate", {"_id": NAME, "members": members})
            return False
        if config["members"][0]["host"] != self._member:
            config["members"][0]["host"] = self._member
            config["version"] += 1
            await client.admin.command("replSetReconfig", config, force=True)
        return False
