"""Schedules in MongoDB: each is a record whose next occurrence one transaction takes together with its message."""

from __future__ import annotations

from pymongo import ASCENDING, DESCENDING

from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import store_errors
from backend_api.schedules.domain.entity import Schedule, ScheduleId
from backend_api.schedules.domain.errors import ScheduleNotFoundError, ScheduleQuotaError
from backend_api.schedules.mongo.schedule_documents import document_of, schedule_from, with_status
from backend_api.schedules.mongo.schedule_firings import ScheduleFirings
from backend_api.schedules.ports import LISTED_MOST, Fired, Firing, Upcoming


class MongoSchedules:
    """`Schedules`, by the database's clock. Unread messages of a session, and sessions of a user, have the same bounds
    as those that people send and open; 0 is no limit."""

    def __init__(self, database: Database, *, max_waiting: int = 0, sessions_most: int = 0) -> None:
        # The driver: schedule, session, run and events change in one transaction, computed by the server.
        self._schedules, self._runs = database["schedules"], database["runs"]
        self._firings = ScheduleFirings(database, max_waiting=max_waiting, sessions_most=sessions_most)

    async def add(self, schedule: Schedule, *, at_most: int) -> None:
        """One insert; those at the same moment are not counted."""
        async with store_errors():
            if at_most:
                held = await self._schedules.count_documents({"user_id": schedule.user_id}, limit=at_most)
                if held >= at_most:
                    raise ScheduleQuotaError.of(at_most)
            await self._schedules.insert_one(document_of(schedule) | {"last_run": None})

    async def get(self, schedule_id: ScheduleId, user_id: UserId) -> Schedule:
        """Find it by id and owner at once."""
        async with store_errors():
            found = await self._schedules.find_one({"_id": schedule_id, "user_id": user_id})
            if found is None:
                raise ScheduleNotFoundError("There is no such schedule.")
            return (await self._with_status([found]))[0]

    async def of_user(self, user_id: UserId) -> list[Schedule]:
        """Two reads."""
        async with store_errors():
            newest = [("created_at", DESCENDING), ("_id", ASCENDING)]
            cursor = self._schedules.find({"user_id": user_id}).sort(newest).limit(LISTED_MOST)
            return await self._with_status(await cursor.to_list())

    async def replace(self, schedule: Schedule) -> bool:
        """Compare-and-set on the version."""
        fields = document_of(schedule) | {"version": schedule.version + 1}
        wanted = {"_id": fields.pop("_id"), "user_id": schedule.user_id, "version": schedule.version}
        async with store_errors():
            return bool((await self._schedules.update_one(wanted, {"$set": fields})).matched_count)

    async def delete(self, schedule_id: ScheduleId, user_id: UserId) -> None:
        """One write."""
        async with store_errors():
            deleted = await self._schedules.delete_one({"_id": schedule_id, "user_id": user_id})
        if not deleted.deleted_count:
            raise ScheduleNotFoundError("There is no such schedule.")

    async def upcoming(self, *, limit: int) -> Upcoming | None:
        """Read by the index of scheduled looks, with the server's time."""
        pipeline: list[Document] = [
            {"$match": {"look_at": {"$type": "date"}}},
            {"$sort": {"look_at": ASCENDING}},
            {"$limit": limit},
            {"$set": {"now": "$$NOW"}},
        ]
        async with store_errors():
            found = await (await self._schedules.aggregate(pipeline)).to_list()
        if not found:
            return None
        return Upcoming(
            now=found[0]["now"],
            next_look=found[0]["look_at"],
            schedules=[schedule_from(one) for one in found if one["look_at"] <= one["now"]],
        )

    async def fire(self, schedule: Schedule, firing: Firing) -> Fired | None:
        """See `ScheduleFirings`."""
        return await self._firings.fire(schedule, firing)

    async def postpone(self, schedule: Schedule, *, for_s: float) -> None:
        """Update in one write, if nobody changed it meanwhile."""
        wanted = {"_id": schedule.id, "version": schedule.version, "look_at": {"$type": "date"}}
        later = {"look_at": {"$add": ["$$NOW", round(for_s * 1000)]}}
        async with store_errors():
            await self._schedules.update_one(wanted, [{"$set": later}])

    async def _with_status(self, found: list[Document]) -> list[Schedule]:
        schedules = [schedule_from(one) for one in found]
        runs = [one.last_run.run_id for one in schedules if one.last_run]
        known = self._runs.find({"_id": {"$in": runs}}, {"status": 1})
        statuses: dict[str, str] = {run["_id"]: run["status"] async for run in known} if runs else {}
        return [with_status(one, statuses) for one in schedules]
