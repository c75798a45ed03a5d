"""Named leases in MongoDB."""

from __future__ import annotations

import re
from datetime import timedelta

from pymongo.errors import DuplicateKeyError

from sandbox_manager.domain.ports import HeldLease
from sandbox_manager.domain.sandbox import LONG_AGO
from sandbox_manager.infrastructure.mongo.documents import LeaseDocument, collection_of
from sandbox_manager.infrastructure.mongo.errors import registry_errors


class MongoLeases:
    """Expects Beanie to be initialised with this package's documents."""

    async def acquire(self, name: str, owner: str, ttl: timedelta) -> bool:
        is_free = {"$or": [{"$eq": ["$owner", owner]}, {"$lte": ["$until", "$$NOW"]}]}
        taken = {"owner": owner, "until": {"$add": ["$$NOW", ttl // timedelta(milliseconds=1)]}}
        with registry_errors():
            leases = collection_of(LeaseDocument)
            held = await leases.update_one({"_id": name, "$expr": is_free}, [{"$set": taken}])
            if held.matched_count:
                return True
            try:
                await leases.update_one({"_id": name, "owner": {"$exists": False}}, [{"$set": taken}], upsert=True)
            except DuplicateKeyError:
                return False  # it exists and is not free
        return True

    async def release(self, name: str, owner: str) -> None:
        with registry_errors():
            await collection_of(LeaseDocument).delete_one({"_id": name, "owner": owner})

    async def known(self, prefix: str) -> list[HeldLease]:
        with registry_errors():
            cursor = collection_of(LeaseDocument).find({"_id": {"$regex": f"^{re.escape(prefix)}"}})
            return [
                HeldLease(name=one["_id"], owner=one["owner"], until=one.get("until", LONG_AGO)) async for one in cursor
            ]
