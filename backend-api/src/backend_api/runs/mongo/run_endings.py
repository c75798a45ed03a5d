"""Ends of runs: by their worker, or by a stop before any worker took them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.ending import cut_by_stop
from backend_api.agent.events import NO_USAGE, Event, RunFinished, RunQueued, Usage, UsageUpdated, is_failure
from backend_api.agent.new_events import NewEvent
from backend_api.agent.waits import end
from backend_api.conversations.application.event_json import dump, payload_fields
from backend_api.conversations.domain.entity import Lease, Run, RunId, RunStatus, SessionStatus
from backend_api.conversations.domain.errors import LeaseLostError, SessionNotFoundError
from backend_api.conversations.mongo.event_documents import from_document, insert_recorded, number, read_events
from backend_api.conversations.mongo.run_documents import put_in_inbox, queued_run, run_from
from backend_api.conversations.mongo.run_queries import leased_session, more_unread, unseen_after
from backend_api.conversations.mongo.usage_documents import NOTHING_USED, usage_fields
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import in_transaction
from backend_api.runs.mongo.run_waits import over, waits_of

_OF_CALLS = [
    "tool.called",
    "tool.started",
    "tool.finished",
    "approval.requested",
    "subagent.started",
    "subagent.finished",
    "teammate.updated",
    "usage.updated",
]
"""Events of calls, and of the agents that work on them."""
MAX_SEQ = 2**53
_NEEDED = {"output": False}
"""Leaves out the output, which is most of an event and is not needed to end a run."""
STOPPED_BEFORE_START = "Stopped by the user before it began."
STOPPED = "Stopped by the user."


class RunEndings:
    """The ending half of the ledger."""

    def __init__(self, database: Database) -> None:
        # The driver, as in all of the ledger: each message costs these transactions.
        self._database = database
        self._sessions = database["sessions"]
        self._runs = database["runs"]

    async def finish(
        self, lease: Lease, finished: RunFinished, *, seen_seq: int, said: Sequence[NewEvent] = ()
    ) -> list[Event]:
        """End a run; an unread message keeps it going, or gets a run of its own. The last answer is stored in the same
        transaction: until then it is live text, which a stop or a redirect keeps."""
        next_run = uuid.uuid4().hex
        # A message that was there when the run began is this run's, however early it failed.
        unseen = {"$gt": ["$last_user_seq", {"$max": [seen_seq, {"$ifNull": ["$started_seq", 0]}]}]}

        async def work(transaction: AsyncClientSession) -> list[Event]:
            held = leased_session(lease)
            free = held | {"last_user_seq": {"$lte": seen_seq}} if finished.is_by_itself else held
            session = await self._sessions.find_one_and_update(
                free,
                [
                    {
                        "$set": {
                            "last_seq": {"$add": ["$last_seq", len(said), {"$cond": [unseen, 2, 1]}]},
                            "active_run_id": {"$cond": [unseen, next_run, None]},
                            "status": {"$cond": [unseen, SessionStatus.QUEUED.value, SessionStatus.IDLE.value]},
                            "failed": {"$cond": [unseen, False, is_failure(finished)]},
                            "fence": 0,
                            "waiting": {"$cond": [unseen, unseen_after(seen_seq), []]},
                            "updated_at": "$$NOW",
                            **more_unread([*(item.payload for item in said), finished]),
                            **NOTHING_USED,
                        }
                    }
                ],
                projection={
                    "last_seq": 1,
                    "active_run_id": 1,
                    "updated_at": 1,
                    "last_user_message_id": 1,
                    "last_user_origin": 1,
                },
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if session is None:
                if await self._sessions.find_one(held, projection={"_id": 1}, session=transaction):
                    return []
                raise LeaseLostError("The run was taken over after an interruption, or it ended.")
            await self._close(transaction, lease.run.id, finished, session)
            session_id, at, last = lease.run.session_id, session["updated_at"], session["last_seq"]
            goes_on = session["active_run_id"] is not None
            events = number(
                session_id, last - goes_on - len(said), at, lease.run.id, [*(item.payload for item in said), finished]
            )
            message_id = session["last_user_message_id"]
            queued = RunQueued(run_id=next_run, message_id=message_id, cause="message" if message_id else "background")
            next_events = number(session_id, last, at, next_run, [queued] if goes_on else [])
            await insert_recorded(self._database, transaction, [*events, *next_events], said)
            if goes_on:
                run = queued_run(
                    next_run,
                    lease.run.session_id,
                    lease.run.user_id,
                    message_id,
                    session["updated_at"],
                    origin=session.get("last_user_origin"),
                )
                await self._runs.insert_one(run, session=transaction)
            return events

        return await in_transaction(self._database, work)

    async def request_stop(self, session_id: SessionId, user_id: UserId, run_id: RunId | None = None) -> Run | None:
        """Leave a stop for the owner of the active run, or end it if no worker took it yet."""

        async def work(transaction: AsyncClientSession) -> Run | None:
            session = await self._sessions.find_one({"_id": session_id, "user_id": user_id}, session=transaction)
            if session is None:
                raise SessionNotFoundError("There is no such session.")
            active = session.get("active_run_id")
            if active is None or run_id not in (None, active):
                return None
            run = await self._runs.find_one_and_update(
                {"_id": active},
                [put_in_inbox("stop", session["last_seq"])],
                return_document=ReturnDocument.AFTER,
                session=transaction,
            )
            if run is None or run["status"] not in (RunStatus.QUEUED.value, RunStatus.WAITING.value):
                return run_from(run) if run else None
            return await self._end_unheld(transaction, session_id, run)

        return await in_transaction(self._database, work)

    async def _end_unheld(self, transaction: AsyncClientSession, session_id: SessionId, run: Document) -> Run:
        """End a run that no worker has: one that is queued, or that waits."""
        waits = waits_of(run)
        what = end(waits, waits, "stop")
        items = [*what.recorded]
        if run["attempt"]:
            events = await self._of_last_calls(transaction, session_id, run["_id"])
            items = cut_by_stop(run["_id"], events, what.recorded)
        session = await self._sessions.find_one_and_update(
            {"_id": session_id},
            [
                {
                    "$set": {
                        "last_seq": {"$add": ["$last_seq", len(items) + 1]},
                        "active_run_id": None,
                        "waiting": [],
                        "status": SessionStatus.IDLE.value,
                        "failed": False,
                        "updated_at": "$$NOW",
                        **NOTHING_USED,
                    }
                }
            ],
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
        if session is None:
            raise SessionNotFoundError("There is no such session.")
        is_begun = run["attempt"] > 0
        finished = RunFinished(
            run_id=run["_id"],
            status="stopped",
            reason=STOPPED if is_begun else STOPPED_BEFORE_START,
            usage=await self._last_usage(transaction, session_id, run["_id"]) if is_begun else NO_USAGE,
        )
        none_left: Document = {"$set": {"waits": [], "wait_until": None}}
        await self._runs.update_one({"_id": run["_id"]}, none_left | over(what), session=transaction)
        closed = await self._close(transaction, run["_id"], finished, session)
        items.append(NewEvent(payload=finished))
        first, payloads = session["last_seq"] - len(items) + 1, [item.payload for item in items]
        events = number(session_id, first, session["updated_at"], run["_id"], payloads)
        await insert_recorded(self._database, transaction, events, items)
        return run_from(closed or run)

    async def _of_last_calls(self, transaction: AsyncClientSession, session_id: SessionId, run_id: str) -> list[Event]:
        """The events of the calls of the main agent's last turn, with all calls and agents below them; for a team,
        whose calls may be older, all events since it began."""
        events, of_run = self._database["events"], {"session_id": session_id, "run_id": run_id}
        turn = of_run | {"type": "usage.updated", "agent_id": None}
        last = await events.find_one(turn, sort=[("seq", -1)], projection={"seq": 1}, session=transaction)
        begun = of_run | {"type": "teammate.updated"}
        team = await events.find_one(begun, sort=[("seq", 1)], projection={"seq": 1}, session=transaction)
        since = min(last["seq"] if last else 0, team["seq"] - 1 if team else MAX_SEQ)
        wanted = {"type": {"$in": _OF_CALLS}, "seq": {"$gt": since}}
        found = events.find(of_run | wanted, _NEEDED, sort=[("seq", 1)], session=transaction)
        return await read_events(self._database, await found.to_list())

    async def _last_usage(self, transaction: AsyncClientSession, session_id: SessionId, run_id: str) -> Usage:
        """The last recorded usage of a run."""
        query = {"session_id": session_id, "type": "usage.updated", "run_id": run_id}
        last = await self._database["events"].find_one(query, sort=[("seq", -1)], session=transaction)
        payload = from_document(last).payload if last else None
        return payload.usage if isinstance(payload, UsageUpdated) else NO_USAGE

    async def _close(
        self, transaction: AsyncClientSession, run_id: str, finished: RunFinished, session: Document
    ) -> Document | None:
        return await self._runs.find_one_and_update(
            {"_id": run_id},
            {
                "$set": {
                    "status": finished.status,
                    "reason": finished.reason,
                    "retryable": finished.retryable,
                    "finished_at": session["updated_at"],
                    "usage": dump(payload_fields(finished.usage)),
                    **usage_fields(finished.usage),
                    "active": None,
                    "inbox": [],
                }
            },
            return_document=ReturnDocument.AFTER,
            session=transaction,
        )
