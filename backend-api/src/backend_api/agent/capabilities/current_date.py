"""A note tells the model the current day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import ContextNote


def _notes(setup: Setup, conversation: Conversation) -> Sequence[ContextNote]:
    del conversation
    return [_note_of(setup.now().date())]


@lru_cache(maxsize=4)
def _note_of(day: date) -> ContextNote:
    return ContextNote(kind="day", text=f"Today is {day:%A, %d %B %Y} (UTC).")


CURRENT_DATE = Capability(name="current date", notes=_notes)
