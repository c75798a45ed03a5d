"""Opened ports in HTTP answers."""

from __future__ import annotations

from typing import Literal

from backend_api.kit.http.schemas import AnswerBody, Time


class OpenedPortBody(AnswerBody):
    id: str
    port: int
    label: str
    opened_at: Time
    opened_by: Literal["agent", "person"]
