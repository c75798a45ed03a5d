"""Messages, runs and their usage in responses."""

from __future__ import annotations

from typing import Any

from backend_api.agent.events import Event
from backend_api.conversations.application.event_json import event_fields
from backend_api.conversations.domain.entity import Run
from backend_api.kit.http.schemas import AnswerBody
from backend_api.kit.stored_time import format_time


def message_fields(event: Event) -> dict[str, Any]:
    """A message as a flat object with the role of its author."""
    fields = event_fields(event)
    role = "user" if event.payload.type == "message.user" else "assistant"
    return {"role": role} | {key: value for key, value in fields.items() if key not in ("type", "session_id")}


def run_fields(run: Run) -> dict[str, Any]:
    """A run as JSON."""
    return {
        "id": run.id,
        "message_id": run.message_id,
        "status": run.status.value,
        "attempt": run.attempt,
        "stop_requested": run.stop_requested,
        "created_at": format_time(run.created_at),
        "started_at": format_time(run.started_at) if run.started_at else None,
        "reason": run.reason,
    }


class UsageBody(AnswerBody):
    input: int
    cached: int
    output: int
    thinking: int
    cache_write: int
    cost: float | None
    """The total cost in US dollars; null as soon as a part of it has no known price."""
    known_cost: float
    """The cost of the part whose price is known."""
    by_model: dict[str, dict[str, int]]
