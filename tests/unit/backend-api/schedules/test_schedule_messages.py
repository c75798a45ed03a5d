"""What the model reads of a message that a schedule sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend_api.agent.events import Event, MessageUser, ScheduleFired
from backend_api.agent.model import UserTurn
from backend_api.agent.schedule_messages import message_of
from backend_api.agent.thread import Thread

TEN = datetime(2026, 5, 4, 10, tzinfo=UTC)
SAID = MessageUser(message_id="m", text="What is new?")


def fired(missed: int = 0, *, due_at: datetime | None = TEN, last: datetime = TEN) -> ScheduleFired:
    return ScheduleFired(
        schedule_id="s",
        message_id="m",
        due_at=due_at,
        missed=missed,
        missed_from=TEN,
        missed_to=last if missed else None,
    )


def test_it_says_who_sent_it_and_for_when() -> None:
    assert message_of(SAID, None) == "What is new?"
    assert message_of(MessageUser(message_id="other", text="hi"), fired()) == "hi"
    assert message_of(SAID, fired()).splitlines()[2].startswith("(Sent by a schedule of the user, due 2026-05-04 10:00")
    assert "asked for now" in message_of(SAID, fired(due_at=None))


def test_it_says_what_was_missed() -> None:
    assert "for 1 occurrence, 2026-05-04 10:00 UTC:" in message_of(SAID, fired(1))
    hour = TEN + timedelta(hours=1)
    assert "for 7 occurrences, from 2026-05-04 10:00 UTC to 2026-05-04 11:00 UTC:" in message_of(
        SAID, fired(7, last=hour)
    )
    assert "for 1000 or more occurrences" in message_of(SAID, fired(1000, last=hour))


def test_the_fold_of_the_log_has_it_in_the_turn_of_the_message() -> None:
    thread = Thread()
    for seq, payload in enumerate([fired(7), SAID, MessageUser(message_id="n", text="And?")], start=1):
        thread.apply(Event(seq=seq, at=TEN, session_id="s", run_id="r", payload=payload))
    first, second = thread.conversation("r").turns
    assert isinstance(first, UserTurn)
    assert isinstance(second, UserTurn)
    assert first.text == message_of(SAID, fired(7))
    assert second.text == "And?"
    assert thread.first_message == "What is new?"
