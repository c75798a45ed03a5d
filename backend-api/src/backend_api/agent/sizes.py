"""Estimates of the tokens of a text that no provider has counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator

from backend_api.agent.model import AssistantTurn, NoteTurn, ToolTurn, Turn, UserTurn

PICTURE_TOKENS = 1_600
CountTokens = Callable[[Iterable[str]], Awaitable[int]]
"""An estimate of the tokens that a model's provider counts for these texts together. It may take time and memory to
start: to check a bound, try `most_tokens` first."""


def estimated_tokens(text: str) -> int:
    """An estimate without any vocabulary: close to OpenAI's newest one for prose, on average over a script. Text in no
    language, such as base64, has up to three times as many."""
    if text.isascii():
        return len(text) // 4
    plain = len(text.encode("ascii", "ignore"))
    astral = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
    others = len(text) - plain - astral
    # By their bytes in UTF-8: two for Latin, Greek, Cyrillic, Hebrew and Arabic letters, three for the rest.
    rest = len(text.encode("utf-8", "surrogatepass")) - plain - 4 * astral - 2 * others
    return round(plain / 4 + 0.25 * (others - rest) + 0.72 * rest + 2 * astral)


async def count_estimated(texts: Iterable[str]) -> int:
    """`CountTokens` without any vocabulary."""
    return sum(map(estimated_tokens, texts))


def tokens_of(turns: Iterable[Turn], count: Callable[[str], int]) -> int:
    """The tokens of everything a model reads of these turns, but for their pictures."""
    return sum(map(count, texts_of(turns)))


def texts_of(turns: Iterable[Turn]) -> Iterator[str]:
    """All texts a model reads of these turns."""
    for turn in turns:
        yield from _texts(turn)


def most_tokens(text: str) -> int:
    """An upper bound for every vocabulary, as a token has at least a byte; much cheaper than counting."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


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
