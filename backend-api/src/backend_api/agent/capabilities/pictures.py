"""The last pictures of tools are sent to the model; a note stands in place of the others, or of all if it can't see."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

from backend_api.agent.capability import Capability, Projection
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import ContextOpened
from backend_api.agent.model import NoteTurn, ToolTurn, Turn, pictures_in
from backend_api.agent.pictures import MAX_PICTURE_BYTES, MOST_PICTURES, MOST_PICTURES_BYTES

KEPT, KEPT_BYTES = 4, MAX_PICTURE_BYTES
"""The most pictures and bytes that the model has seen and that an opening keeps: few, so that the next one is not due
soon."""
TAKEN = "A picture was taken here. "
"""The note for a picture of a tool. An attached picture has a note of its own."""
BLIND = TAKEN + "You can't see pictures."
LEFT_OUT = TAKEN + "It is not shown any more."
TOO_LARGE = TAKEN + "It is too large to be shown."


def _apply(conversation: Conversation) -> Conversation:
    opened = conversation.opened
    if not conversation.pictures or opened is None:
        return conversation
    shown, turns = _turns_with_pictures(conversation, opened), [*conversation.turns]
    for index in set(conversation.pictures).difference(shown):
        turn = turns[index]
        left_out = TOO_LARGE if _size(turn) > MAX_PICTURE_BYTES else LEFT_OUT
        note = left_out if opened.vision else BLIND
        if isinstance(turn, ToolTurn):
            turns[index] = turn.once(note, _NOTED[note])
        elif isinstance(turn, NoteTurn):
            turns[index] = turn.once(note, _NOTED_TEXT[note])
    return replace(conversation, turns=turns, pictures=shown)


def _replace_by_note(note: str) -> Callable[[ToolTurn], ToolTurn]:
    return lambda turn: replace(turn, pictures=(), note=note)


def _add_to_note(note: str) -> Callable[[NoteTurn], NoteTurn]:
    return lambda turn: replace(turn, pictures=(), text=f"{turn.text}\n\n{note.removeprefix(TAKEN)}")


_NOTED = {note: _replace_by_note(note) for note in (BLIND, LEFT_OUT, TOO_LARGE)}
_NOTED_TEXT = {note: _add_to_note(note) for note in (BLIND, LEFT_OUT, TOO_LARGE)}


def _is_due(conversation: Conversation) -> bool:
    if not conversation.pictures or conversation.opened is None:
        return False
    shown = _turns_with_pictures(conversation, conversation.opened)
    turns = [conversation.turns[index] for index in shown]
    return sum(map(pictures_in, turns)) > MOST_PICTURES or sum(map(_size, turns)) > MOST_PICTURES_BYTES


def _limit(conversation: Conversation, opened: ContextOpened) -> ContextOpened:
    """Keep the last pictures, and as many unseen ones as a request may hold. Pictures left out earlier stay so: a
    provider may have refused them."""
    if not conversation.pictures or not opened.vision:
        return opened
    last = conversation.opened
    shown = _turns_with_pictures(conversation, last) if last is not None and last.vision else _candidates(conversation)
    turns, unread_from = conversation.turns, conversation.unread_from
    kept = count = size = 0
    for index in reversed(shown):
        most, most_bytes = (MOST_PICTURES, MOST_PICTURES_BYTES) if index >= unread_from else (KEPT, KEPT_BYTES)
        count += pictures_in(turns[index])
        size += _size(turns[index])
        if count > most or size > most_bytes:
            break
        kept += 1
    return replace(opened, pictures=kept)


def _turns_with_pictures(conversation: Conversation, opened: ContextOpened) -> list[int]:
    """Indices of the turns whose pictures are sent: the last ones that the opening kept, and all after it."""
    if not opened.vision:
        return []
    found = _candidates(conversation)
    before = bisect_left(found, conversation.opened_at)
    return found[max(before - opened.pictures, 0) :]


def _candidates(conversation: Conversation) -> list[int]:
    turns = conversation.turns
    return [index for index in conversation.pictures if _size(turns[index]) <= MAX_PICTURE_BYTES]


def _size(turn: Turn) -> int:
    match turn:
        case ToolTurn(pictures=(picture,)) | NoteTurn(pictures=(picture,)):
            return picture.size
        case ToolTurn(pictures=pictures) | NoteTurn(pictures=pictures):
            return sum(picture.size for picture in pictures)
        case _:
            return 0


PICTURES = Capability(name="pictures", projections=[Projection(apply=_apply, is_due=_is_due, limit=_limit)])
