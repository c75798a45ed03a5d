"""A run has a limit of turns: a note in the last ones tells the agent to finish, and the final answer says how far it
came."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, FinalTurn, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.ending import Ending
from backend_api.agent.events import ContextNote, Notice

TOLD_IN_LAST = 3
"""The number of last turns that have the note."""
REASON = "max_turns"


def _turns_left(setup: Setup, conversation: Conversation) -> int | None:
    """Turns that the agent may still take. All agents of the run are counted together, and the last turn is the main
    agent's, so that it can read what the others found."""
    turns = setup.options.max_turns
    if turns is None:
        return None
    kept = 0 if setup.kind == "main" else 1
    return turns - kept - (conversation.next_turn - 1 + conversation.turns_of_others)


def _notes(setup: Setup, conversation: Conversation) -> Sequence[ContextNote]:
    left = _turns_left(setup, conversation)
    if left is None or not 0 < left <= TOLD_IN_LAST:
        return ()
    many = "This is the last turn" if left == 1 else f"{left} turns are left"
    text = f"{many} in which you can use tools. Finish what matters most, and leave things in a usable state."
    return [ContextNote(kind="turns", text=text)]


async def _brake(setup: Setup, conversation: Conversation) -> Ending | FinalTurn | None:
    left, turns = _turns_left(setup, conversation), setup.options.max_turns
    if left is None or left > 0:
        return None
    limit = f"The run reached its limit of {turns} {'turn' if turns == 1 else 'turns'} (max_turns)."
    if setup.kind != "main":
        return Ending(status="failed", reason=limit)
    text = (
        "No turns are left in which you can use tools. Tell the person now, from what you know: what you did, what you "
        "found, and what is still to be done."
    )
    notice = Notice(text=f"{limit} Send a message to go on.", code=REASON, params={"turns": turns or 0})
    ending = Ending(status="completed", reason=REASON, said=(notice,))
    return FinalTurn(note=ContextNote(kind="turns", text=text), ending=ending)


TURN_LIMIT = Capability(name="turn limit", notes=_notes, brake=_brake)
