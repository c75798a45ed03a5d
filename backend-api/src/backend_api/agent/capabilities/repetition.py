"""A note warns an agent that repeats the same calls with the same results; if it goes on, it is ended."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.ending import Ending
from backend_api.agent.events import ContextNote
from backend_api.agent.recent_calls import CallSummary

TIMES = 3
LONGEST_CYCLE = 5
REASON = "The agent made the same calls again and again, also after it was told so."


def _repeated(setup: Setup, conversation: Conversation) -> Sequence[CallSummary]:
    """The calls that were made three times in a row with equal results, empty if there are none. A tool that waits for
    something is called again on purpose, and questions to a person don't count either."""
    if len(conversation.last_calls) < TIMES:
        return ()
    waiting = {tool.name for tool in setup.tools if tool.waits or tool.asks_person}
    made = [call for call in conversation.last_calls if call.name not in waiting]
    for length in range(1, LONGEST_CYCLE + 1):
        cycle = made[-length:]
        if len(made) >= length * TIMES and made[-length * TIMES :] == cycle * TIMES:
            return cycle
    return ()


def _note(cycle: Sequence[CallSummary]) -> ContextNote:
    """The note, the same wherever in the cycle the agent is."""
    names = [call.text for call in cycle]
    told = ", then ".join(min([*names[at:], *names[:at]] for at in range(len(names))))
    text = (
        f"You made the same calls {TIMES} times in a row, with the same results: {told}. They will not give anything "
        "else. Try another way, or tell the person what is in the way."
    )
    return ContextNote(kind="repetition", text=text)


def _notes(setup: Setup, conversation: Conversation) -> Sequence[ContextNote]:
    cycle = _repeated(setup, conversation)
    return [_note(cycle)] if cycle else ()


async def _brake(setup: Setup, conversation: Conversation) -> Ending | None:
    cycle = _repeated(setup, conversation)
    if not cycle or conversation.notes.get("repetition") != _note(cycle).text:
        return None
    told = f"{REASON} Send a message to go on." if setup.kind == "main" else REASON
    return Ending(status="failed", reason=told, code="repetition", retryable=True)


REPETITION = Capability(name="repetition", notes=_notes, brake=_brake)
