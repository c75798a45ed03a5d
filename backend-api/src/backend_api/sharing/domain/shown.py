"""The fields of stored events that readers of a link get. Each field is listed here: one that a later version adds to
an event is not shared until it is listed."""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from typing import Any

from backend_api.agent.events import (
    BodyReference,
    Event,
    MessageCompleted,
    MessageUser,
    MessageWithdrawn,
    PathSelected,
    PlanDecided,
    PlanProposed,
    QuestionAnswered,
    QuestionAsked,
    RunFinished,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
    agent_of,
)
from backend_api.kit.stored_time import format_time

Fields = dict[str, Any]


def shown_fields(event: Event, include: Collection[str], files: Collection[str] | None = None) -> Fields | None:
    """The event as one JSON object; None if no part of it is visible. Texts of sub-agents are not shown. Of attachments
    only those among the shared `files` are named, or all if None, and the others are counted."""
    payload = event.payload
    if event.seq is None or agent_of(payload) is not None:
        return None
    fields = _said(event, files if "files" in include else ())
    if fields is None and isinstance(payload, ThinkingCompleted) and "thinking" in include:
        fields = {
            "message_id": payload.message_id,
            "text": payload.text,
            "duration_ms": payload.duration_ms,
            "seen_seq": payload.seen_seq,
        }
    if fields is None and "tools" in include:
        fields = _worked(event)
    if fields is None:
        return None
    return {"seq": event.seq, "type": payload.type, "at": format_time(event.at), **fields}


def shown_body(event: Event, include: Collection[str]) -> BodyReference | None:
    """The long output beside an event, if that is visible."""
    payload = event.payload
    if isinstance(payload, ToolFinished) and shown_fields(event, include) is not None:
        return payload.body
    return None


def _said(event: Event, files: Collection[str] | None) -> Fields | None:
    """Messages between person and agent, and ends of runs."""
    payload = event.payload
    if isinstance(payload, MessageUser):
        named = [one for one in payload.attachments if files is None or _in_workspace(one) in files]
        return {
            "message_id": payload.message_id,
            "text": payload.text,
            "attachments": named,
            "files_left_out": len(payload.attachments) - len(named),
        }
    if isinstance(payload, MessageCompleted):
        return {
            "message_id": payload.message_id,
            "text": payload.text,
            "partial": payload.partial,
            "seen_seq": payload.seen_seq,
        }
    if isinstance(payload, MessageWithdrawn):
        return {"message_id": payload.message_id}
    if isinstance(payload, QuestionAsked):
        questions = [{"id": one.id, "text": one.text, "options": list(one.options)} for one in payload.questions]
        return {"question_id": payload.question_id, "questions": questions}
    if isinstance(payload, QuestionAnswered):
        return {"question_id": payload.question_id, "answers": payload.answers}
    if isinstance(payload, PlanProposed):
        return {"plan_id": payload.plan_id, "plan": payload.plan}
    if isinstance(payload, PlanDecided):
        return {"plan_id": payload.plan_id, "decision": payload.decision, "feedback": payload.feedback}
    if isinstance(payload, RunFinished):
        return {"status": payload.status}
    if isinstance(payload, PathSelected):
        return {}  # a reader who follows reads the conversation anew
    return None


def _worked(event: Event) -> Fields | None:
    """Inputs and outputs of tools."""
    payload = event.payload
    if isinstance(payload, ToolCalled):
        return {
            "call_id": payload.call_id,
            "name": payload.name,
            "arguments": payload.arguments,
            "phrase": payload.phrase,
            "seen_seq": payload.seen_seq,
        }
    if isinstance(payload, ToolFinished):
        body = payload.body
        return {
            "call_id": payload.call_id,
            "success": payload.success,
            "cancelled": payload.cancelled,
            "preview": payload.preview,
            "duration_ms": payload.duration_ms,
            "display": payload.display,
            "body": None if body is None else {"size": body.size, "media_type": body.media_type},
        }
    return None


def _in_workspace(path: str) -> str:
    """The path below the workspace."""
    return posixpath.normpath(path.removeprefix("/workspace")).lstrip("/")
