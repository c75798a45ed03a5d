"""Tasks of a conversation in HTTP answers."""

from __future__ import annotations

from typing import Any

from backend_api.agent.events import TaskPriority, TaskStatus
from backend_api.kit.http.schemas import AnswerBody


class TaskBody(AnswerBody):
    id: str
    subject: str
    description: str
    active_form: str
    status: TaskStatus
    owner: str
    blocked_by: list[str]
    blocks: list[str]
    metadata: dict[str, Any]
    priority: TaskPriority
