"""Messages that a schedule sends, in the words the model reads."""

from __future__ import annotations

from datetime import UTC, datetime

from backend_api.agent.events import MessageUser, ScheduleFired

MAX_MISSED = 1000
"""The count of missed times stops here."""
_FIRED = "(Sent by a schedule of the user{due}.{missed} The user may not be there to answer.)"
_MISSED = " It was not sent in time for {count}, {when}: this one message is for all of them."


def message_of(message: MessageUser, fired: ScheduleFired | None) -> str:
    """The text of a message; a schedule's is followed by its due time and the missed times."""
    if fired is None or fired.message_id != message.message_id:
        return message.text
    due = f", due {_time(fired.due_at)}" if fired.due_at else ", as the user asked for now"
    return f"{message.text}\n\n{_FIRED.format(due=due, missed=_describe_missed(fired))}"


def _describe_missed(fired: ScheduleFired) -> str:
    if not fired.missed or fired.missed_from is None or fired.missed_to is None:
        return ""
    more = " or more" if fired.missed >= MAX_MISSED else ""
    count = "1 occurrence" if fired.missed == 1 else f"{fired.missed}{more} occurrences"
    first, last = _time(fired.missed_from), _time(fired.missed_to)
    return _MISSED.format(count=count, when=first if first == last else f"from {first} to {last}")


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
