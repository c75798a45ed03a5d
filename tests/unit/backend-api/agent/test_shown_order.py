"""The order in which a conversation is shown. The page has a copy of it for shared links, which `sharedItems.spec.ts`
holds to the same cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backend_api.agent.events import (
    Event,
    MessageCompleted,
    MessageUser,
    Payload,
    PlanDecided,
    RunFinished,
    RunStarted,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.shown_order import Reordered

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "data" / "shown_order.json").read_text(encoding="utf-8")
)
PAYLOADS: dict[str, Callable[[dict[str, Any]], Payload]] = {
    "message.user": lambda _: MessageUser(message_id="m", text="said"),
    "message.completed": lambda one: MessageCompleted(message_id="a", text="told", seen_seq=one["seen_seq"]),
    "thinking.completed": lambda one: ThinkingCompleted(message_id="a", text="hm", seen_seq=one["seen_seq"]),
    "tool.called": lambda one: ToolCalled(
        call_id="c", name="look", arguments={}, phrase="", turn=1, seen_seq=one["seen_seq"]
    ),
    "tool.finished": lambda _: ToolFinished(call_id="c", success=True, preview=""),
    "plan.decided": lambda _: PlanDecided(plan_id="p", decision="approve", feedback="but", by="user"),
    "run.started": lambda _: RunStarted(run_id="r", message_id=None, model="m", worker="w"),
    "run.finished": lambda one: RunFinished(run_id="r", status=one["status"]),
}


def is_seen(event: Event) -> bool:
    payload = event.payload
    if isinstance(payload, RunFinished):
        return payload.status != "completed"
    return not isinstance(payload, RunStarted | ToolFinished)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_what_was_not_read_stands_below_what_was_done_meanwhile(case: dict[str, Any]) -> None:
    order, shown = Reordered[int](), list[int]()
    for one in case["events"]:
        payload = PAYLOADS[one["type"]](one)
        event = Event(seq=one["seq"], at=datetime(2026, 1, 1, tzinfo=UTC), session_id="s", run_id="r", payload=payload)
        shown += order.add(event, event.seq if is_seen(event) else None)
    assert [*shown, *order.rest()] == case["shown"]
