"""The open waits of a run, read from its session's log."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    PlanDecided,
    PlanProposed,
    QuestionAnswered,
    QuestionAsked,
    RunStarted,
)
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.ports import EventLog
from backend_api.kit.ids import SessionId

_PAGE = 500


async def events_since_start(log: EventLog, session_id: SessionId, run_id: RunId) -> list[Event]:
    """The run's events since its last start, in order."""
    known: list[Event] = []
    before = (await log.heads([session_id])).get(session_id, 0) + 1
    while before > 1 and (page := await log.read_back(session_id, before=before, limit=_PAGE)):
        before = page[0].seq or 1
        known = [*page, *known]
        if any(isinstance(event.payload, RunStarted) for event in page):
            break
    starts = [index for index, event in enumerate(known) if isinstance(event.payload, RunStarted)]
    return [event for event in known[starts[-1] if starts else 0 :] if event.run_id == run_id]


def undecided_requests(events: Sequence[Event]) -> list[Event]:
    """The requests among these events that are not decided yet, in order."""
    asked: dict[str, Event] = {}
    open_calls: dict[str, set[str]] = {}
    for event in events:
        match event.payload:
            case QuestionAsked(question_id=wait_id) | PlanProposed(plan_id=wait_id):
                asked[wait_id] = event
            case ApprovalRequested(approval_id=wait_id, calls=calls):
                asked[wait_id] = event
                open_calls[wait_id] = {call.call_id for call in calls}
            case QuestionAnswered(question_id=wait_id) | PlanDecided(plan_id=wait_id):
                asked.pop(wait_id, None)
            case ApprovalResolved(approval_id=wait_id, call_ids=call_ids):
                open_calls[wait_id] = open_calls.get(wait_id, set()).difference(call_ids)
                if not open_calls[wait_id]:
                    asked.pop(wait_id, None)
            case _:
                pass
    return [*asked.values()]
