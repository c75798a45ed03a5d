"""What day an agent is told it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from backend_api.agent.capabilities.current_date import CURRENT_DATE
from backend_api.agent.conversation import Conversation
from support.scripted import ANY

NOTHING_SAID = Conversation(turns=[], seen_seq=0, next_turn=1, is_answered=False)


def told(now: datetime) -> str:
    (note,) = CURRENT_DATE.notes(replace(ANY, now=lambda: now), NOTHING_SAID)
    return note.text


def test_it_is_told_the_day_of_each_moment() -> None:
    night = datetime(2026, 2, 28, 23, 59, tzinfo=UTC)
    assert told(night) == "Today is Saturday, 28 February 2026 (UTC)."
    assert told(night + timedelta(minutes=1)) == "Today is Sunday, 01 March 2026 (UTC)."
    assert told(night) == "Today is Saturday, 28 February 2026 (UTC)."
