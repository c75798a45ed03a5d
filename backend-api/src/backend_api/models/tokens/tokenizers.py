"""Token counts by the vocabularies of models, which come with a package: nothing is downloaded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence

from backend_api.agent.sizes import CountTokens, estimated_tokens

NEWEST = "o200k_base"
"""OpenAI's vocabulary; also used for models whose vocabulary is not public, such as Anthropic's."""
VOCABULARIES: tuple[tuple[str, str], ...] = (
    ("deepseek", "deepseek_v3"),
    ("qwen", "qwen3"),
    ("qwq", "qwen3"),
    ("glm", "glm4"),
    ("kimi", "kimi_k2"),
    ("moonshot", "kimi_k2"),
    ("llama", "llama3"),
    ("mistral", "mistral_v3"),
    ("ministral", "mistral_v3"),
    ("magistral", "mistral_v3"),
    ("devstral", "mistral_v3"),
    ("codestral", "mistral_v3"),
    ("gemma", "gemma3"),
    ("gpt-4-", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
)
"""Vocabularies by a part of the model's name; the first match is used."""
PIECES, PIECE_CHARACTERS = 8, 1_000
"""A longer text is sampled in so many pieces, spread evenly: that takes some milliseconds at most, and is within a few
percent."""
REMEMBERED = 50_000

CountEach = Callable[[str, Sequence[str]], Awaitable[Sequence[int | None]]]
"""Counts tokens of some texts by a vocabulary's name; None for a text that can't be counted."""


def vocabulary_of(model: str) -> str:
    """The vocabulary for a model's name."""
    name = model.lower()
    return next((vocabulary for part, vocabulary in VOCABULARIES if part in name), NEWEST)


class Tokenizers:
    """The counters of one process. Counts are cached, since a conversation is counted again at each turn if its
    provider reports none. If counting fails, the domain's estimate is used."""

    def __init__(self, count_each: CountEach) -> None:
        self._count_each = count_each
        self._remembered: OrderedDict[tuple[str, int, int], int] = OrderedDict()

    def counter(self, model: str) -> CountTokens:
        """A counter of tokens as this model reads them."""
        vocabulary = vocabulary_of(model)

        async def count(texts: Iterable[str]) -> int:
            whole = list(texts)
            known = [self._remembered.get(_key(vocabulary, text)) for text in whole]
            new = [text for text, tokens in zip(whole, known, strict=True) if tokens is None]
            return sum(tokens or 0 for tokens in known) + sum(await self._counted(vocabulary, new))

        return count

    async def _counted(self, vocabulary: str, texts: Sequence[str]) -> Sequence[int]:
        pieces = [_pieces_of(text) for text in texts]
        counted = iter(await self._count_each(vocabulary, [piece for some in pieces for piece in some]))
        return [
            self._whole(vocabulary, text, some, [next(counted) for _ in some])
            for text, some in zip(texts, pieces, strict=True)
        ]

    def _whole(self, vocabulary: str, text: str, pieces: Sequence[str], counted: Sequence[int | None]) -> int:
        """The count of a text, extrapolated from the counts of its pieces."""
        if None in counted:
            return estimated_tokens(text)
        of_pieces, length = sum(filter(None, counted)), sum(map(len, pieces))
        tokens = self._remembered[_key(vocabulary, text)] = round(of_pieces * len(text) / max(length, 1))
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return tokens


def _key(vocabulary: str, text: str) -> tuple[str, int, int]:
    return vocabulary, hash(text), len(text)


def _pieces_of(text: str) -> Sequence[str]:
    if len(text) <= PIECES * PIECE_CHARACTERS:
        return [text]
    step = (len(text) - PIECE_CHARACTERS) / (PIECES - 1)
    begins = [int(step * number) for number in range(PIECES)]
    return [text[begin : begin + PIECE_CHARACTERS] for begin in begins]
