"""How many tokens a text is about, where no provider has counted it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator

from backend_api.agent.model import AssistantTurn, NoteTurn, ToolTurn, Turn, UserTurn

PICTURE_TOKENS = 1_600
CountTokens = Callable[[Iterable[str]], Awaitable[int]]
"""About as many as a model's provider counts for these texts together. It may take a moment, and memory, to begin: who
only asks whether they are below a bound asks `most_tokens` first."""


def estimated_tokens(text: str) -> int:
    """Without any vocabulary: as OpenAI's newest one has it for prose, on average over a script. What is no language at
    all, such as base64, is up to three times as many."""
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
    """Of all that a model reads of them but their pictures."""
    return sum(map(count, texts_of(turns)))


def texts_of(turns: Iterable[Turn]) -> Iterator[str]:
    """All that a model reads of them but their pictures."""
    for turn in turns:
        yield from _texts(turn)


def most_tokens(text: str) -> int:
    """No vocabulary has more for it, as a token is a byte at least; far less work than counting."""
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
