"""Where messages that were sent while the agent was at work are shown, read from MongoDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend_api.agent.events import Event, MessageUser
from backend_api.agent.shown_order import ORDER_TYPES, WORK_TYPES, OrderMark, ShownOrder, mark_of
from backend_api.conversations.mongo.event_documents import read_events
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database, Document

MAX_SEQ = 2**53
_RUNS = ("message.user", "run.started", "run.finished", "path.selected")
_SEEN = '"seen_seq":([0-9]+)'
"""In a text of the data each quotation mark has a backslash before it."""
_STOPPED = '"status":"stopped"'


async def shown_after(
    database: Database, session_id: SessionId, *, since: int = 0, up_to: int = MAX_SEQ
) -> Mapping[int, int]:
    """For each message that was sent during a run, the number of the event below which it is shown. Numbers alone are
    read, and only from the first of those messages on. Those of runs that were over before `since` are left out, and
    events after `up_to` don't count."""
    first = await _first_during_a_run(database, session_id, since, up_to)
    if first is None:
        return {}
    wanted: Document = {"session_id": session_id, "type": {"$in": [*ORDER_TYPES]}, "agent_id": None}
    fields: Document = {
        "_id": 0,
        "seq": 1,
        "type": 1,
        "parts": 1,
        "seen": {"$regexFind": {"input": "$data", "regex": _SEEN}},
        "stop": {"$regexMatch": {"input": "$data", "regex": _STOPPED}},
    }
    order = ShownOrder()
    found = (
        await database["events"].find(wanted | {"seq": {"$gte": first, "$lte": up_to}}, fields).sort("seq", 1).to_list()
    )
    long = [one["seq"] for one in found if one["type"] in WORK_TYPES and one["seen"] is None and one.get("parts")]
    whole = await database["events"].find({"session_id": session_id, "seq": {"$in": long}}).to_list() if long else []
    marks = {event.seq or 0: mark_of(event) for event in await read_events(database, whole)}
    for one in found:
        order.apply(marks.get(one["seq"]) or _mark(one))
    return order.after


async def in_shown_order(database: Database, session_id: SessionId, events: Sequence[Event]) -> list[Event]:
    """Messages, which are the last ones of the log up to some number, in the order in which they are shown."""
    numbers = [event.seq or 0 for event in events]
    if not any(isinstance(event.payload, MessageUser) for event in events[1:]):
        return [*events]
    after = await shown_after(database, session_id, since=numbers[0], up_to=numbers[-1])

    def place(event: Event) -> tuple[int, int]:
        seq = event.seq or 0
        return (after.get(seq, seq), seq) if isinstance(event.payload, MessageUser) else (seq, 0)

    return sorted(events, key=place)


async def _first_during_a_run(database: Database, session_id: SessionId, since: int, up_to: int) -> int | None:
    """The number of the start of the first run during which a message was sent."""
    wanted: Document = {"session_id": session_id, "type": {"$in": [*_RUNS]}, "agent_id": None}
    begun = {**wanted, "type": "run.started", "seq": {"$lt": since}}
    before = await database["events"].find(begun, {"seq": 1}).sort("seq", -1).limit(1).to_list() if since else []
    wanted["seq"] = {"$gte": before[0]["seq"] if before else 0, "$lte": up_to}
    started: int | None = None
    async for one in database["events"].find(wanted, {"_id": 0, "seq": 1, "type": 1}).sort("seq", 1):
        if one["type"] == "message.user":
            if started is not None:
                return started
        else:
            started = one["seq"] if one["type"] == "run.started" else None
    return None


def _mark(found: Document) -> OrderMark:
    seen = int(found["seen"]["captures"][0]) if found["seen"] and found["type"] in WORK_TYPES else 0
    return OrderMark(found["seq"], found["type"], seen, is_stop=found["type"] == "run.finished" and found["stop"])
