"""How many tokens a text is about, where no provider has counted it."""

from __future__ import annotations

from collections.abc import Iterator

from backend_api.domain.agent.model import AssistantTurn, NoteTurn, ToolTurn, Turn, UserTurn

CHARACTERS_A_TOKEN = 4
"""Of ASCII. Any other is taken for a token of its own."""
PICTURE_TOKENS = 1_600


def weight(text: str) -> int:
    """As many characters of ASCII as have its tokens."""
    if text.isascii():
        return len(text)
    plain = len(text.encode("ascii", "ignore"))
    return plain + (len(text) - plain) * CHARACTERS_A_TOKEN


def weight_of_turn(turn: Turn) -> int:
    """Of all that a model reads of it but its pictures."""
    return sum(weight(text) for text in _texts(turn))


def _texts(turn: Turn) -> Iterator[str]:
    match turn:
        case UserTurn():
            yield turn.text
            yield from turn.attachments
        case NoteTurn():
            yield turn.text
        case ToolTurn():
            yield turn.output
            yield turn.note
        case AssistantTurn():
            yield turn.text
            for thinking in turn.thinking:
                yield thinking.text
                yield thinking.signature or ""
                yield thinking.opaque or ""
            for call in turn.calls:
                yield call.name
                yield call.arguments_json
